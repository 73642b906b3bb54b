// Grows boosted trees (model/classifier/boosted_trees.h) on summaries of series: round by round a
// tree for each score, that takes the steepest way down the cross-entropy of what those before it
// left. As many rounds are kept as serve the validation split best.
#pragma once

#include <span>

#include "base/threads/interrupted.h"
#include "base/threads/thread_pool.h"
#include "model/classifier/boosted_trees.h"

namespace edict {

struct BoostingSettings {
  std::int64_t rounds = 300;
  std::int64_t leaves = 15;
  double rate = 0.05;
  std::int64_t patience = 50;  // rounds without a better fit to the validation split
};

// Labelled summaries, rows × series; the trees read the first `rows` of them.
struct LabelledSummaries {
  const Matrix<float>& summaries;
  std::span<const std::int32_t> labels;
};

// The same trees for every number of threads. Throws Interrupted.
BoostedTrees boost(const LabelledSummaries& training, const LabelledSummaries& validation,
                   Index rows, Index classes, const BoostingSettings& settings, ThreadPool& pool,
                   StopFlag stop = nullptr);

}  // namespace edict
