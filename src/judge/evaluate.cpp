#include "judge/evaluate.h"

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

}  // namespace edict
