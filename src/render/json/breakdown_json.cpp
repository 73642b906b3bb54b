#include "render/json/breakdown_json.h"

#include <utility>

#include "base/error.h"
#include "base/json/json_values.h"

namespace edict {

nlohmann::json to_json(const Scores& scores) {
  nlohmann::json coverage = nlohmann::json::array();
  for (std::size_t k = 0; k < kToldLevels.size(); ++k)
    coverage.push_back({{"level", kToldLevels[k]}, {"share", scores.coverage[k]}});
  return {{"mse", scores.mse},
          {"mae", scores.mae},
          {"nll", scores.nll},
          {"crps", scores.crps},
          {"coverage", std::move(coverage)}};
}

void from_json(const nlohmann::json& json, Scores& scores) {
  scores.mse = number_or_nan(json.at("mse"));
  scores.mae = number_or_nan(json.at("mae"));
  scores.nll = number_or_nan(json.at("nll"));
  scores.crps = number_or_nan(json.at("crps"));
  for (std::size_t k = 0; k < kToldLevels.size(); ++k) {
    const nlohmann::json& told = json.at("coverage").at(k);
    if (told.at("level").get<double>() != kToldLevels[k])
      throw Error("a coverage has another level than today");
    scores.coverage[k] = number_or_nan(told.at("share"));
  }
}

nlohmann::json to_json(const ScoredGroup& group) {
  return {{"name", group.name},
          {"observations", group.observations},
          {"unit", group.unit},
          {"model", to_json(group.model)},
          {"last_value", to_json(group.last_value)},
          {"training_mean", to_json(group.training_mean)}};
}

void from_json(const nlohmann::json& json, ScoredGroup& group) {
  json.at("name").get_to(group.name);
  json.at("observations").get_to(group.observations);
  json.at("unit").get_to(group.unit);
  json.at("model").get_to(group.model);
  json.at("last_value").get_to(group.last_value);
  json.at("training_mean").get_to(group.training_mean);
}

nlohmann::json to_json(const TaskBreakdown& task) {
  return {{"all", to_json(task.all)},
          {"features", json_list(task.features)},
          {"horizons", json_list(task.horizons)},
          {"pit", task.pit}};
}

void from_json(const nlohmann::json& json, TaskBreakdown& task) {
  json.at("all").get_to(task.all);
  json.at("features").get_to(task.features);
  json.at("horizons").get_to(task.horizons);
  json.at("pit").get_to(task.pit);
}

nlohmann::json to_json(const Breakdown& breakdown) {
  return {{"horizon_edges", breakdown.horizon_edges},
          {"interpolation", json_or_null(breakdown.interpolation)},
          {"extrapolation", json_or_null(breakdown.extrapolation)}};
}

void from_json(const nlohmann::json& json, Breakdown& breakdown) {
  json.at("horizon_edges").get_to(breakdown.horizon_edges);
  breakdown.interpolation = optional_from_json<TaskBreakdown>(json.at("interpolation"));
  breakdown.extrapolation = optional_from_json<TaskBreakdown>(json.at("extrapolation"));
}

}  // namespace edict
