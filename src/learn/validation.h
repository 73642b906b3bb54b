// Judges a model by the validation series of a training set.
#pragma once

#include "base/threads/interrupted.h"
#include "base/threads/thread_pool.h"
#include "learn/training_set.h"
#include "model/model.h"

namespace edict {

// Per observation, or per labelled series; what a set is not judged by stays 0.
struct Validation {
  double nll = 0, mse = 0, crps = 0;
  double cross_entropy = 0, accuracy = 0;
  bool judged = true;  // false: there was nothing to judge by
};
Validation validate(const Model& model, const TrainingSet& set, ThreadPool& pool, StopFlag stop);

}  // namespace edict
