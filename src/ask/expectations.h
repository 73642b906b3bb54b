// What the model expected of each observation just before it came, and what it makes of the series
// in the end, in one pass.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict {

// What was expected of the observations of one series.
struct Expectations {
  struct Clip {
    std::size_t observation;  // in the dataset's arrays
    double used;              // what the guard took instead, in the data's units
    double sigmas;            // how far it was off
  };

  std::vector<Marginal> marginals;  // one an observation, in the dataset's order and units
  std::vector<Clip> clips;
  std::vector<double> probability;  // of the classes, with everything observed; if asked for
};

struct ExpectationRequest {
  Guard guard = {};
  double absorb_until = std::numeric_limits<double>::infinity();  // later observations are judged
                                                                  // but not absorbed
  bool classes = false;  // class probabilities too, if the model classifies
  StopFlag stop = nullptr;
  // Instead: what lies beyond the cut-off of each series is judged but not absorbed.
  bool from_cut = false;
};

// One entry a series, in their order. The model has a distribution.
std::vector<Expectations> expectations(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series,
                                       const ExpectationRequest& request, ThreadPool& pool);

}  // namespace edict
