// Everything that `evaluate` tells of a model's distributions, from one pass over the series.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "judge/breakdown.h"
#include "judge/ensemble_score.h"
#include "judge/evaluate.h"
#include "judge/joint_score.h"

namespace edict {

struct DetailedEvaluation {
  Evaluation evaluation;
  Breakdown breakdown;
  // Of an ensemble that looks from one side: its exact mixture is one of filters.
  std::optional<EnsembleScores> members;
  std::optional<JointScores> joint;  // of a model with correlations
};

// Without edges of horizons, round numbers are chosen that divide what is judged about evenly.
DetailedEvaluation evaluate_in_detail(const Model& model, const Dataset& data,
                                      std::span<const std::size_t> series, ThreadPool& pool,
                                      const Guard& guard = {},
                                      std::vector<double> horizon_edges = {},
                                      StopFlag stop = nullptr, Sides sides = Sides::past);

}  // namespace edict
