#include "judge/calibration_metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ask/distribution.h"
#include "base/error.h"
#include "math/student_t.h"

namespace edict {
namespace {

constexpr PerLevel kLevel = interval_levels();

void check(const Marginal& m, double x, double unit) {
  if (!std::isfinite(m.mean) || !(m.scale > 0.0) || !std::isfinite(m.scale) || !(m.dof > 1.0))
    throw Error(
        fmt::format("predictive distribution with mean {}, scale {}, dof {}: pass a finite mean, a "
                    "finite scale above 0 and dof above 1",
                    m.mean, m.scale, m.dof));
  if (!std::isfinite(x)) throw Error(fmt::format("observation {}: pass a finite number", x));
  if (!(unit > 0.0) || !std::isfinite(unit))
    throw Error(fmt::format("unit {}: pass a finite number above 0", unit));
}

double mean_gap(const PerLevel& coverage) {
  double sum = 0.0;
  for (std::size_t k = 0; k < kLevels; ++k) sum += std::abs(coverage[k] - kLevel[k]);
  return sum / static_cast<double>(kLevels);
}

MeanStd mean_std(const RunningMoments& of) {
  const Moments moments = of.result();
  return {moments.mean, moments.std};
}

}  // namespace

void SeriesCalibration::add(const Marginal& marginal, double x, double unit) {
  check(marginal, x, unit);
  const auto& [mean, aleatoric, epistemic, scale, dof] = marginal;
  const double error = x - mean, z = error / scale;
  const bool gaussian = std::isinf(dof);
  const double new_squared_error = error * error * unit * unit;
  const double new_nll = std::log(unit) - log_density(marginal, x);
  const double new_crps =
      unit * (gaussian ? normal_crps(x, mean, scale) : student_t_crps(x, mean, scale, dof));
  if (!std::isfinite(new_squared_error + new_nll + new_crps))
    throw Error(
        fmt::format("observation {} under mean {} and scale {} has no finite score: look for a "
                    "value in the wrong unit",
                    x, mean, scale));
  squared_error += new_squared_error;
  nll += new_nll;
  crps += new_crps;
  ++observations;

  // The narrowest central interval that holds x decides for each level whether it does.
  const double central = central_level(marginal, x);
  const auto held = std::lower_bound(kLevel.begin(), kLevel.end() - 1, central);
  ++first_held[static_cast<std::size_t>(held - kLevel.begin())];
  const double probability = 0.5 * (1.0 + std::copysign(central, z));
  const auto bin = static_cast<std::size_t>(probability * static_cast<double>(kPitBins));
  ++pit[std::min(bin, kPitBins - 1)];

  const PerWidth half_width = interval_half_widths(dof);
  for (std::size_t k = 0; k < kWidths; ++k) width[k] += 2.0 * half_width[k] * scale * unit;
}

PerLevel SeriesCalibration::coverage() const {
  PerLevel share{};
  std::uint32_t held = 0;
  for (std::size_t k = 0; k < kLevels; ++k) {
    held += first_held[k];
    share[k] = static_cast<double>(held) / observations;
  }
  return share;
}

double SeriesCalibration::ece() const { return mean_gap(coverage()); }

void CalibrationSums::add(const SeriesCalibration& s) {
  if (s.observations == 0) {
    ++empty_series_;
    return;
  }
  ++series_;
  observations_ += s.observations;
  const double n = s.observations;
  metrics_[0].add(s.squared_error / n);
  metrics_[1].add(s.nll / n);
  metrics_[2].add(s.crps / n);
  const PerLevel coverage = s.coverage();
  for (std::size_t k = 0; k < kLevels; ++k) metrics_[kCoverage + k].add(coverage[k]);
  for (std::size_t k = 0; k < kWidths; ++k) metrics_[kWidth + k].add(s.width[k] / n);
  for (std::size_t bin = 0; bin < kPitBins; ++bin) metrics_[kPit + bin].add(s.pit[bin] / n);
}

CalibrationResult CalibrationSums::result() const {
  if (empty())
    throw Error(
        fmt::format("{} series have no observation to evaluate: hold out "
                    "some, or evaluate a longer stretch of time",
                    empty_series_));
  CalibrationResult result{};
  result.series = series_;
  result.empty_series = empty_series_;
  result.observations = observations_;
  result.mse = mean_std(metrics_[0]);
  result.nll = mean_std(metrics_[1]);
  result.crps = mean_std(metrics_[2]);
  result.level = kLevel;
  PerLevel mean_coverage{};
  for (std::size_t k = 0; k < kLevels; ++k) {
    result.coverage[k] = mean_std(metrics_[kCoverage + k]);
    mean_coverage[k] = result.coverage[k].mean;
  }
  for (std::size_t k = 0; k < kWidths; ++k) result.width[k] = mean_std(metrics_[kWidth + k]);
  result.ece = mean_gap(mean_coverage);
  for (std::size_t bin = 0; bin < kPitBins; ++bin)
    result.pit[bin] = metrics_[kPit + bin].result().mean;
  return result;
}

}  // namespace edict
