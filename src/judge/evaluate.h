// Calibration of a model's distribution (the paper's section 4.3.1): of each series 10 % of the
// observations before t_cut are hidden and judged as interpolation, everything from t_cut on is
// hidden and judged as extrapolation.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/threads/thread_pool.h"
#include "judge/calibration_metrics.h"
#include "model/infer.h"

namespace edict {

// Empty where the split has nothing to judge.
struct Evaluation {
  std::optional<CalibrationResult> interpolation;
  // The part of the interpolation after the series' first absorbed observation: before it nothing
  // is known of the series, and what is judged is the population's spread.
  std::optional<CalibrationResult> informed_interpolation;
  std::optional<CalibrationResult> extrapolation;
  // Observations that the model was shown, and how many of them the guard changed.
  std::size_t absorbed = 0, clipped = 0;
};

struct JudgedObservation;
struct ShownObservations;

// Its sums (judged_observation.h).
class EvaluationSums {
 public:
  struct OfSeries {
    SeriesCalibration interpolation, informed, extrapolation;
  };
  static OfSeries of(std::span<const JudgedObservation> observations);
  void add(const OfSeries& series);
  Evaluation result(const ShownObservations& shown) const;

 private:
  CalibrationSums interpolation_, informed_, extrapolation_;
};

// In the model's units: standardised, unless data.standardise is off. From both sides it is the
// interpolation that may be told better. Throws Interrupted when `stop` is set.
Evaluation evaluate(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const Guard& guard = {}, StopFlag stop = nullptr,
                    Sides sides = Sides::past);

}  // namespace edict
