#include "edict/eval/calibration_metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "edict/core/error.h"
#include "edict/core/json_values.h"
#include "edict/data/moments.h"
#include "edict/eval/distribution.h"
#include "edict/math/special.h"
#include "edict/math/student_t.h"

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

MeanStd mean_std(const Moments& moments) { return {moments.mean, moments.std}; }

// The metrics of one series in a row: mse, nll, crps, ece, floor, then coverage, width and pit.
constexpr std::size_t kCoverage = 5, kWidth = kCoverage + kLevels, kPit = kWidth + kLevels,
                      kMetrics = kPit + kPitBins;

template <class Visit>
void visit_metrics(const SeriesCalibration& s, Visit visit) {
  const double n = s.observations;
  visit(0, s.squared_error / n);
  visit(1, s.nll / n);
  visit(2, s.crps / n);
  visit(3, s.ece());
  visit(4, ece_floor(s.observations));
  const PerLevel coverage = s.coverage();
  for (std::size_t k = 0; k < kLevels; ++k) {
    visit(kCoverage + k, coverage[k]);
    visit(kWidth + k, s.width[k] / n);
  }
  for (std::size_t bin = 0; bin < kPitBins; ++bin) visit(kPit + bin, s.pit[bin] / n);
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

  // The narrowest central interval that holds x tells for each level whether it does.
  const double central = central_level(marginal, x);
  const auto held = std::lower_bound(kLevel.begin(), kLevel.end(), central);
  if (held != kLevel.end()) ++first_held[static_cast<std::size_t>(held - kLevel.begin())];
  const double probability = 0.5 * (1.0 + std::copysign(central, z));
  const auto bin = static_cast<std::size_t>(probability * static_cast<double>(kPitBins));
  ++pit[std::min(bin, kPitBins - 1)];

  const PerLevel half_width = interval_half_widths(dof);
  for (std::size_t k = 0; k < kLevels; ++k) width[k] += 2.0 * half_width[k] * scale * unit;
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

double ece_floor(std::size_t observations) {
  if (observations == 0) throw Error("calibration error of a series without observations");
  const auto n = static_cast<double>(observations);
  double sum = 0.0;
  for (const double p : kLevel) {
    // De Moivre: E|B − np| = 2m C(n, m) pᵐ (1−p)ⁿ⁻ᵐ⁺¹ with m = ⌊np⌋ + 1; when np is a whole number
    // m = np gives the same, so its rounding does no harm.
    const double m = std::floor(n * p) + 1.0;
    sum += 2.0 * m / n *
           std::exp(log_gamma(n + 1.0) - log_gamma(m + 1.0) - log_gamma(n - m + 1.0) +
                    m * std::log(p) + (n - m + 1.0) * std::log1p(-p));
  }
  return sum / static_cast<double>(kLevels);
}

CalibrationResult summarise(std::span<const SeriesCalibration> series) {
  CalibrationResult result{};
  for (const SeriesCalibration& s : series) {
    ++(s.observations == 0 ? result.empty_series : result.series);
    result.observations += s.observations;
  }
  if (result.series == 0)
    throw Error(
        fmt::format("calibration of {} series without any observation to judge: hold out "
                    "some, or evaluate a longer stretch of time",
                    series.size()));
  const auto moments = moments_of(kMetrics, [&](auto visit) {
    for (const SeriesCalibration& s : series)
      if (s.observations > 0) visit_metrics(s, visit);
  });
  result.mse = mean_std(moments[0]);
  result.nll = mean_std(moments[1]);
  result.crps = mean_std(moments[2]);
  result.ece_per_series = mean_std(moments[3]);
  result.ece_per_series_floor = moments[4].mean;
  result.level = kLevel;
  PerLevel mean_coverage{};
  for (std::size_t k = 0; k < kLevels; ++k) {
    result.coverage[k] = mean_std(moments[kCoverage + k]);
    result.width[k] = mean_std(moments[kWidth + k]);
    mean_coverage[k] = result.coverage[k].mean;
  }
  result.ece = mean_gap(mean_coverage);
  for (std::size_t bin = 0; bin < kPitBins; ++bin) result.pit[bin] = moments[kPit + bin].mean;
  return result;
}

nlohmann::json to_json(const CalibrationResult& result) {
  return {{"series", result.series},
          {"empty_series", result.empty_series},
          {"observations", result.observations},
          {"mse", to_json(result.mse)},
          {"nll", to_json(result.nll)},
          {"crps", to_json(result.crps)},
          {"ece", result.ece},
          {"ece_per_series", to_json(result.ece_per_series)},
          {"ece_per_series_floor", result.ece_per_series_floor},
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
  json.at("ece_per_series").get_to(result.ece_per_series);
  json.at("ece_per_series_floor").get_to(result.ece_per_series_floor);
  json.at("level").get_to(result.level);
  json.at("coverage").get_to(result.coverage);
  json.at("width").get_to(result.width);
  json.at("pit").get_to(result.pit);
}

}  // namespace edict
