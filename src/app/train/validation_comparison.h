// How much a trained model is worth: on its validation split, beside the last observed value
// carried forward.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict::app {

struct ComparedTask {
  double crps = 0, last_value_crps = 0;
  double coverage = 0;  // of intervals of 90 %
};

struct FeatureCoverage {
  std::string feature;
  double coverage = 0;
};

struct ValidationComparison {
  // Held-out values and forecasts; without a value where there are none to evaluate.
  std::optional<ComparedTask> interpolation, extrapolation;
  // Features for which the last value does as well; of both tasks, in alphabetical order.
  std::vector<std::string> lost;
  // Features whose intervals of 90 % hold fewer than 80 % or more than 97 %, of either task.
  std::vector<FeatureCoverage> off;
};

// Of a model that predicts distributions.
ValidationComparison compare_with_last_value(const Model& model, const Dataset& data,
                                             std::span<const std::size_t> validation,
                                             ThreadPool& pool);

}  // namespace edict::app
