// A model's distribution of a series along a list of times.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "edict/core/thread_pool.h"
#include "edict/model/model.h"

namespace edict {

// An observation that a guard changed; values in the data's units.
struct Clip {
  double time;
  std::size_t feature;
  double raw, used;
  double sigmas;  // how far it was from what was expected
};

struct Trajectory {
  std::size_t series = 0;  // in the dataset
  std::size_t features = 0;
  std::vector<Marginal> marginals;  // times × features, in the data's units
  std::vector<Clip> clips;

  const Marginal& at(std::size_t time, std::size_t feature) const {
    return marginals[time * features + feature];
  }
};

struct PredictRequest {
  std::vector<double> times;             // ascending, in the data's unit
  std::vector<std::size_t> series = {};  // empty: all
  Guard guard = {};
  double absorb_until = std::numeric_limits<double>::infinity();  // later observations are ignored
  // The times of a series, ascending, where each has its own; then `times` is not read.
  std::function<std::vector<double>(std::size_t series)> own_times = {};
  StopFlag stop = nullptr;  // Interrupted when it is set
};

// Tells what was expected at each time given the observations before it, series after series in
// order. Memory is that of a few hundred series, however many there are.
void predict(const Model& model, const Dataset& data, const PredictRequest& request,
             ThreadPool& pool, const std::function<void(const Trajectory&)>& sink);

// Half the central interval that holds `level` of the distribution.
double half_width(const Marginal& marginal, double level);

}  // namespace edict
