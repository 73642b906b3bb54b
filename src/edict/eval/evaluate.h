// Calibration of a model's distribution (the paper's section 4.3.1): of each series 10 % of the
// observations before t_cut are hidden and judged as interpolation, everything from t_cut on is
// hidden and judged as extrapolation.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "edict/core/thread_pool.h"
#include "edict/eval/calibration_metrics.h"
#include "edict/model/infer.h"

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

// The sums of many series; each is added to by one thread.
class EvaluationSums {
 public:
  explicit EvaluationSums(std::size_t series)
      : interpolation_(series), informed_(series), extrapolation_(series) {}

  void add(std::size_t series, const JudgedObservation& observation);
  Evaluation result(const ShownObservations& shown) const;

 private:
  std::vector<SeriesCalibration> interpolation_, informed_, extrapolation_;
};

// In the model's units: standardised, unless data.standardise is off. From both sides it is the
// interpolation that may be told better. Throws Interrupted when `stop` is set.
Evaluation evaluate(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const Guard& guard = {}, StopFlag stop = nullptr,
                    Sides sides = Sides::past);

nlohmann::json to_json(const Evaluation& evaluation);
void from_json(const nlohmann::json& json, Evaluation& evaluation);

}  // namespace edict
