// What a model said of observations that it was not shown, and how much each of them counts in a
// calibration: every series weighs the same, and so do what is before the cut-off and what comes
// after it, however many observations there are of each.
#pragma once

#include <cstddef>
#include <vector>

#include "base/threads/thread_pool.h"
#include "learn/training_set.h"
#include "model/expected_observation.h"
#include "model/model.h"

namespace edict {

// In the model's units; what was expected by the network itself, whatever calibration the model
// carries. An event is a stop of the timeline.
struct WeightedObservation : ExpectedObservation {
  std::size_t series;  // place among the timelines
  double weight;
  double horizon;  // since the series was last observed, in the model's time
};

// From the observations of the timelines' queries, feature by feature, series in order.
std::vector<std::vector<WeightedObservation>> weighted_observations(const Model& model,
                                                                    const Timelines& timelines,
                                                                    ThreadPool& pool,
                                                                    StopFlag stop = nullptr);

}  // namespace edict
