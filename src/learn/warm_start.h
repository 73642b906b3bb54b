// Training that starts from a trained model instead of anew.
#pragma once

#include <span>
#include <string>

#include "model/model.h"

namespace edict {

// A copy to be trained on, with the model's features, scales, split and settings; of these only
// train.… and loss.… may be assigned anew. `name`: its file in messages, or empty. Throws Error
// for an ensemble, and for a classifier on top of a distribution, which would not fit states that
// change.
Model warm_start(const Model& trained, std::span<const std::string> assignments,
                 const std::string& name);

// The parts of the data by the model's split, which remembers them as seen. The data must have the
// model's columns. Throws Error where there is nothing to train on.
Split split_for_more_training(Model& model, const Dataset& data);

}  // namespace edict
