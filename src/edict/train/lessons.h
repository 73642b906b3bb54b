// What a training run learns from, what its loss is made of, and how an epoch is judged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "edict/model/model.h"

namespace edict {

struct Lessons {
  enum class Judge {
    nll,            // the lower, the better
    cross_entropy,  // the lower, the better
    accuracy,       // the higher, the better; among equals the lower cross-entropy
  };

  std::vector<Agenda<float>> train, validation;
  std::vector<std::int32_t> train_labels, validation_labels;  // one an agenda, or kNone
  double evidential = 1.0;      // weight of the evidential loss per observation
  double classification = 0.0;  // weight of the cross-entropy per labelled series
  Judge judge = Judge::nll;
  bool start_counts = false;  // the parameters before the first epoch may be the best: row 0
};

// The distribution of the observations before t_cut, judged on the held-out and later ones.
Lessons distribution_lessons(const Model& model, const Dataset& data, const Split& split);

// The classes of the labelled series, from everything that was observed; for models without a
// distribution. Throws what check_labels throws.
Lessons class_lessons(const Model& model, const Dataset& data, const Split& split);

// Both at once, unlabelled series counting for their distribution only; judged by the classes.
Lessons joint_lessons(const Model& model, const Dataset& data, const Split& split,
                      double evidential);

// Throws Error unless the training part holds two classes and the validation part any label.
void check_labels(const Model& model, std::span<const std::int32_t> labels, const Split& split);

}  // namespace edict
