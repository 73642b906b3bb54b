#include "judge/evaluate.h"

#include "base/json/json_values.h"
#include "judge/judged_observation.h"

namespace edict {
namespace {

std::optional<CalibrationResult> judged(const CalibrationSums& sums) {
  return sums.empty() ? std::nullopt : std::optional(sums.result());
}

}  // namespace

EvaluationSums::OfSeries EvaluationSums::of(std::span<const JudgedObservation> observations) {
  OfSeries own;
  for (const JudgedObservation& o : observations) {
    (o.extrapolated ? own.extrapolation : own.interpolation).add(o.expected, o.observed);
    if (o.informed && !o.extrapolated) own.informed.add(o.expected, o.observed);
  }
  return own;
}

void EvaluationSums::add(const OfSeries& series) {
  interpolation_.add(series.interpolation);
  informed_.add(series.informed);
  extrapolation_.add(series.extrapolation);
}

Evaluation EvaluationSums::result(const ShownObservations& shown) const {
  return {judged(interpolation_), judged(informed_), judged(extrapolation_), shown.absorbed,
          shown.clipped};
}

Evaluation evaluate(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const Guard& guard, StopFlag stop, Sides sides) {
  EvaluationSums sums;
  const ShownObservations shown = add_up(model, data, series, pool, guard, stop, sides, sums);
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
