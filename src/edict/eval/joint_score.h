// What a model's correlations are worth (eval/joint.h), by the log score of the same observations
// that `evaluate` judges: those of one moment together, in nats a value; mean over the values of a
// series, then over series.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "edict/core/thread_pool.h"
#include "edict/model/infer.h"

namespace edict {

struct JointScore {
  double together_nll;
  double alone_nll;  // as if features were independent: the NLL that `evaluate` tells
};

struct JointScores {
  std::optional<JointScore> interpolation, extrapolation;  // empty: nothing to judge
};

// Error for a model without correlations.
JointScores joint_scores(const Model& model, const Dataset& data,
                         std::span<const std::size_t> series, ThreadPool& pool,
                         const Guard& guard = {}, Sides sides = Sides::past);

nlohmann::json to_json(const JointScore& score);
nlohmann::json to_json(const JointScores& scores);

}  // namespace edict
