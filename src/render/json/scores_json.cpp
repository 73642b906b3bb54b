#include "render/json/scores_json.h"

#include <cstddef>

#include "base/json/json_values.h"

namespace edict {

nlohmann::json to_json(const MeanStd& value) { return {{"mean", value.mean}, {"std", value.std}}; }

void from_json(const nlohmann::json& json, MeanStd& value) {
  json.at("mean").get_to(value.mean);
  json.at("std").get_to(value.std);
}

nlohmann::json to_json(const CalibrationResult& result) {
  return {{"series", result.series},
          {"empty_series", result.empty_series},
          {"observations", result.observations},
          {"mse", to_json(result.mse)},
          {"nll", to_json(result.nll)},
          {"crps", to_json(result.crps)},
          {"ece", result.ece},
          {"level", result.level},
          {"coverage", json_list(result.coverage)},
          {"width", json_list(result.width)},
          {"pit", result.pit}};
}

void from_json(const nlohmann::json& json, CalibrationResult& result) {
  json.at("series").get_to(result.series);
  json.at("empty_series").get_to(result.empty_series);
  json.at("observations").get_to(result.observations);
  json.at("mse").get_to(result.mse);
  json.at("nll").get_to(result.nll);
  json.at("crps").get_to(result.crps);
  json.at("ece").get_to(result.ece);
  json.at("level").get_to(result.level);
  json.at("coverage").get_to(result.coverage);
  json.at("width").get_to(result.width);
  json.at("pit").get_to(result.pit);
}

nlohmann::json to_json(const Evaluation& evaluation) {
  return {{"interpolation", json_or_null(evaluation.interpolation)},
          {"informed_interpolation", json_or_null(evaluation.informed_interpolation)},
          {"extrapolation", json_or_null(evaluation.extrapolation)},
          {"absorbed_observations", evaluation.absorbed},
          {"clipped_observations", evaluation.clipped}};
}

void from_json(const nlohmann::json& json, Evaluation& evaluation) {
  const auto read = [&](const char* task) {
    return optional_from_json<CalibrationResult>(json.at(task));
  };
  evaluation = {read("interpolation"), read("informed_interpolation"), read("extrapolation"),
                json.at("absorbed_observations").get<std::size_t>(),
                json.at("clipped_observations").get<std::size_t>()};
}

nlohmann::json to_json(const EnsembleScore& score) {
  return {{"mixture_nll", score.mixture_nll},
          {"members_nll", score.members_nll},
          {"disagreement", score.disagreement}};
}

nlohmann::json to_json(const EnsembleScores& scores) {
  return {{"interpolation", json_or_null(scores.interpolation)},
          {"extrapolation", json_or_null(scores.extrapolation)}};
}

nlohmann::json to_json(const JointScore& score) {
  return {{"together_nll", score.together_nll}, {"alone_nll", score.alone_nll}};
}

nlohmann::json to_json(const JointScores& scores) {
  return {{"interpolation", json_or_null(scores.interpolation)},
          {"extrapolation", json_or_null(scores.extrapolation)}};
}

}  // namespace edict
