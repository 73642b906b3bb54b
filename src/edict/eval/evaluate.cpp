#include "edict/eval/evaluate.h"

#include <algorithm>
#include <vector>

#include "edict/core/json_values.h"
#include "edict/eval/judged_observation.h"

namespace edict {
namespace {

std::optional<CalibrationResult> judged(std::span<const SeriesCalibration> series) {
  const bool any = std::any_of(series.begin(), series.end(),
                               [](const SeriesCalibration& s) { return s.observations > 0; });
  return any ? std::optional(summarise(series)) : std::nullopt;
}

}  // namespace

void EvaluationSums::add(std::size_t series, const JudgedObservation& o) {
  if (o.extrapolated) {
    extrapolation_[series].add(o.expected, o.x);
    return;
  }
  interpolation_[series].add(o.expected, o.x);
  if (o.informed) informed_[series].add(o.expected, o.x);
}

Evaluation EvaluationSums::result(const ShownObservations& shown) const {
  return {judged(interpolation_), judged(informed_), judged(extrapolation_), shown.absorbed,
          shown.clipped};
}

Evaluation evaluate(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const Guard& guard, StopFlag stop, Sides sides) {
  EvaluationSums sums(series.size());
  const ShownObservations shown = each_judged_observation(
      model, data, series, pool, guard, stop, sides,
      [&](std::size_t i, const JudgedObservation& observation) { sums.add(i, observation); });
  return sums.result(shown);
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

}  // namespace edict
