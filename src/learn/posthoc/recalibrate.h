// Distributions as wide as the errors they meet: a factor on the predictive scale of each feature,
// found on series that the model was not trained on.
//
// The central interval that just reaches an observation has a level u; where the distribution is
// right, u is uniform and its mean a half. The factor is the one that makes it so; that mean is
// also what the average coverage of all intervals is short of one. Observations weigh as
// learn/posthoc/weighted_observations.h tells.
#pragma once

#include <vector>

#include "base/threads/thread_pool.h"
#include "learn/training_set.h"
#include "model/model.h"

namespace edict {

// From the observations of the timelines' queries; 1 for a feature with too few of them to tell.
std::vector<double> spread_factors(const Model& model, const Timelines& timelines, ThreadPool& pool,
                                   StopFlag stop = nullptr);

// Multiplies the model's scales by these factors. States, and what is classified from them, stay.
// Throws Interrupted, with the model as it was, when `stop` is set.
void recalibrate(Model& model, const Timelines& timelines, ThreadPool& pool,
                 StopFlag stop = nullptr);

}  // namespace edict
