#include "research/stage_results.h"

#include "base/json/json_values.h"

namespace edict::study {

nlohmann::json to_json(const TrainingSummary& summary) {
  return {{"epochs", summary.epochs},
          {"parameters", summary.parameters},
          {"best_epoch",
           summary.best_epoch ? nlohmann::json(*summary.best_epoch) : nlohmann::json(nullptr)},
          {"validation", summary.validation}};
}

void from_json(const nlohmann::json& json, TrainingSummary& summary) {
  json.at("epochs").get_to(summary.epochs);
  json.at("parameters").get_to(summary.parameters);
  summary.best_epoch = optional_from_json<std::int64_t>(json.at("best_epoch"));
  summary.validation = numbers_or_nan(json.at("validation"));
}

nlohmann::json to_json(const ClassifierScores& scores) {
  nlohmann::json seeds = nlohmann::json::array();
  for (const ClassifierScore& score : scores.seeds)
    seeds.push_back({{"seed", score.seed},
                     {"epoch", score.epoch},
                     {"validation_accuracy", score.validation_accuracy},
                     {"validation_cross_entropy", score.validation_cross_entropy}});
  return {{"seeds", std::move(seeds)}};
}

void from_json(const nlohmann::json& json, ClassifierScores& scores) {
  scores.seeds.clear();
  for (const nlohmann::json& seed : json.at("seeds"))
    scores.seeds.push_back({seed.at("seed").get<std::int64_t>(),
                            seed.at("epoch").get<std::int64_t>(),
                            number_or_nan(seed.at("validation_accuracy")),
                            number_or_nan(seed.at("validation_cross_entropy"))});
}

}  // namespace edict::study
