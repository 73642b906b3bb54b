// Finds how a model's two sides become one distribution (model/fusion.h), on series that its
// weights were not trained on: on those that also fit a calibration (learn/posthoc/calibrate.h), so
// that the others judge both.
//
// Of a feature it is what makes the hidden observations likeliest, held a little by what fits all
// features together, which is also what a feature gets that was never hidden.
#pragma once

#include "base/threads/thread_pool.h"
#include "learn/training_set.h"
#include "model/model.h"

namespace edict {

// From the observations of those queries of the timelines that have something after them; empty
// where they are too few to tell.
Fusion fit_fusion(const Model& model, const Timelines& timelines, ThreadPool& pool,
                  StopFlag stop = nullptr);

}  // namespace edict
