// What an ensemble gains over its members, by the log score of the same observations that
// `evaluate` judges: mean over the observations of a series, then over series.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "edict/core/thread_pool.h"
#include "edict/model/model.h"

namespace edict {

struct EnsembleScore {
  double mixture_nll;  // of the exact mixture of the members' distributions
  double members_nll;  // of the members, each by itself, on average: never below mixture_nll
  // Share of the epistemic variance that the members' disagreement makes up, over all observations.
  double disagreement;
};

struct EnsembleScores {
  std::optional<EnsembleScore> interpolation, extrapolation;  // empty: nothing to judge
};

// Error for a single model or one without a distribution.
EnsembleScores ensemble_scores(const Model& model, const Dataset& data,
                               std::span<const std::size_t> series, ThreadPool& pool,
                               const Guard& guard = {});

nlohmann::json to_json(const EnsembleScore& score);
nlohmann::json to_json(const EnsembleScores& scores);

}  // namespace edict
