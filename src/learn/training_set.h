// What a training run learns from, what its loss is made of, and by what its epochs are compared.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/model.h"
#include "model/timelines.h"

namespace edict {

// The data that a set was made of must outlive it.
struct TrainingSet {
  Timelines train, validation;
  // What an epoch learns from, where long series are cut into other windows each time; empty:
  // train.
  std::function<Timelines(std::int64_t epoch)> windows = {};
  std::vector<std::int32_t> train_labels, validation_labels;  // one a timeline, or kNone
  double evidential = 1.0;      // weight of the evidential loss per observation
  double classification = 0.0;  // weight of the cross-entropy per labelled series
  Criterion criterion = Criterion::nll;
  bool start_counts = false;  // the parameters before the first epoch may be the best: row 0
};

// What a distribution is validated by; every observation of the series where hidden and later ones
// are too few.
Timelines validation_timelines(const Model& model, const Dataset& data,
                               std::span<const std::size_t> validation);

// The distribution of the observations before t_cut, judged on the held-out and later ones.
TrainingSet distribution_training_set(const Model& model, const Dataset& data, const Split& split);

// The same series from their end: nothing but what is told of the past by the future is learnt and
// judged.
TrainingSet reversed_training_set(const TrainingSet& set);

// The classes of the labelled series, from everything that was observed; for models without a
// distribution. Throws what check_labels throws.
TrainingSet class_training_set(const Model& model, const Dataset& data, const Split& split);

// Both at once, unlabelled series counting for their distribution only; judged by the classes.
TrainingSet joint_training_set(const Model& model, const Dataset& data, const Split& split,
                               double evidential);

// Throws Error unless the training part holds two classes and the validation part any label.
void check_labels(const Model& model, std::span<const std::int32_t> labels, const Split& split);

}  // namespace edict
