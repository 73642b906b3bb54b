// What the stages of a run leave behind that no other folder has a type for.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace edict::study {

// train.json
struct TrainingSummary {
  std::int64_t epochs = 0, parameters = 0;
  std::optional<std::int64_t> best_epoch;
  // Of each epoch: the NLL, or the cross-entropy of a model without a distribution.
  std::vector<double> validation;
};

// classify.json: the best epoch of each seed.
struct ClassifierScore {
  std::int64_t seed = 0, epoch = 0;
  double validation_accuracy = 0, validation_cross_entropy = 0;
};
struct ClassifierScores {
  std::vector<ClassifierScore> seeds;
};

nlohmann::json to_json(const TrainingSummary& summary);
void from_json(const nlohmann::json& json, TrainingSummary& summary);
nlohmann::json to_json(const ClassifierScores& scores);
void from_json(const nlohmann::json& json, ClassifierScores& scores);

}  // namespace edict::study
