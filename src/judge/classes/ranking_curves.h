// The curves behind AUROC and average precision: one class against the rest, over its scores.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/classes/classification_metrics.h"

namespace edict {

// Series that share a score; the highest score first.
struct ScoreStep {
  double score;
  std::uint64_t positives, negatives;
};
std::vector<ScoreStep> score_steps(const Predictions& predictions, std::size_t positive);

// NaN where a class, or its rest, has no series.
double auroc(const std::vector<ScoreStep>& steps);
double average_precision(const std::vector<ScoreStep>& steps);

// What is told apart when everything from `threshold` on is called positive. The first point calls
// nothing positive (an infinite threshold; precision 1 by convention), the last everything. Of more
// than `most` points an even choice is kept, with both ends.
struct CurvePoint {
  double threshold;
  double true_positive_rate;  // recall
  double false_positive_rate;
  double precision;
};
std::vector<CurvePoint> ranking_curve(const std::vector<ScoreStep>& steps, std::size_t most = 400);

}  // namespace edict
