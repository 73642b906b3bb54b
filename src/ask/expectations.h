// What the model expected of each observation just before it came, and what it makes of the series
// in the end, in one pass.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "ask/clips.h"
#include "base/threads/thread_pool.h"
#include "model/expected_observation.h"
#include "model/model.h"

namespace edict {

// Of one series, in the data's units.
struct Expectations {
  std::size_t series = 0;                         // in the dataset
  std::vector<ExpectedObservation> observations;  // in the order of the data, events of the dataset
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
