#include "model/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_values.h"

namespace edict {
namespace {

// Levels that are usually asked for get a step of their own.
constexpr double kUsual[] = {0.5, 0.8, 0.9, 0.95, 0.98, 0.99};
// What an older version calibrated holds, as far as it does, at every horizon.
constexpr double kAnyHorizon = std::numeric_limits<double>::max();

// Whether they are steps.
bool read_steps(const nlohmann::json& from, std::vector<ConformalStep>& steps) {
  const auto promised = from.at("promised").get<std::vector<double>>();
  const auto level = from.at("level").get<std::vector<double>>();
  if (promised.size() != level.size()) return false;
  for (std::size_t i = 0; i < promised.size(); ++i) {
    if (!(promised[i] > 0 && promised[i] <= 1 && level[i] >= 0 && level[i] <= 1 &&
          (i == 0 || (promised[i] > promised[i - 1] && level[i] > level[i - 1]))))
      return false;
    steps.push_back({promised[i], level[i]});
  }
  return true;
}

// Elsewhere a step is left out while it is this close to the last, in shares of what is not held.
constexpr double kCloseness = 0.05;

}  // namespace

std::vector<ConformalStep> conformal_steps(std::span<const std::vector<double>> of_series) {
  std::vector<std::pair<double, double>> weighed;  // level, weight
  const auto series = static_cast<double>(of_series.size());
  for (const auto& levels : of_series)
    for (const double level : levels)
      weighed.emplace_back(level, 1.0 / ((series + 1.0) * static_cast<double>(levels.size())));
  std::sort(weighed.begin(), weighed.end());
  std::vector<ConformalStep> all;
  double held = 0;
  for (std::size_t i = 0; i < weighed.size(); ++i) {
    held += weighed[i].second;
    if (i + 1 < weighed.size() && weighed[i + 1].first == weighed[i].first) continue;
    all.push_back({held, weighed[i].first});
  }
  std::vector<ConformalStep> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double before = i == 0 ? 0.0 : all[i - 1].promised;
    const bool usual = std::any_of(std::begin(kUsual), std::end(kUsual), [&](double level) {
      return before < level && level <= all[i].promised;
    });
    const double last = kept.empty() ? 0.0 : kept.back().promised;
    // The last of a stretch is kept, not the first after it: a promise takes the next step.
    const bool far = i + 1 == all.size() ||
                     all[i + 1].promised - last > kCloseness * (1.0 - all[i + 1].promised);
    if (usual || far) kept.push_back(all[i]);
  }
  return kept;
}

double conformal_level(std::span<const ConformalStep> steps, double promised) {
  // Weights that add up to the promise but for rounding keep it.
  constexpr double kRounding = 1e-12;
  const auto step =
      std::lower_bound(steps.begin(), steps.end(), promised - kRounding,
                       [](const ConformalStep& s, double wanted) { return s.promised < wanted; });
  return step == steps.end() ? 1.0 : step->level;
}

double FeatureCalibration::dof_at(double ahead) const {
  double own = dof;
  if (dof_slope != 0) {
    const double log_dof = std::log(dof - kLeastDof) + dof_slope * ahead;
    own = kLeastDof + std::exp(std::clamp(log_dof, kLeastLogDof, kMostLogDof));
  }
  return windows > 0 ? std::max(kLeastDof, own / (1.0 + own / windows)) : own;
}

Marginal FeatureCalibration::calibrated(const Marginal& m, double horizon) const {
  const double above = std::clamp(std::log(m.scale) - std::log(reference), -kFarthest, kFarthest);
  const double ahead = std::log1p(std::clamp(horizon, 0.0, farthest) / horizon_unit);
  const double scale = m.scale * std::exp(log_factor + slope * above + horizon_slope * ahead);
  const double own_dof = dof_at(ahead);
  const double variance = scale * scale * own_dof / (own_dof - 2.0);
  const double share = epistemic_share(m);
  return {m.mean, (1.0 - share) * variance, share * variance, scale, own_dof};
}

std::span<const ConformalStep> FeatureCalibration::steps_at(double horizon) const {
  for (const ConformalRange& range : ranges)
    if (horizon <= range.until) return range.steps;
  return {};
}

std::vector<double> horizons(const Timeline<float>& timeline, double absorb_until) {
  std::vector<double> result;
  double last = timeline.start;
  for (const auto& stop : timeline.stops) {
    if (stop.what & Timeline<float>::kQuery) result.push_back(stop.time - last);
    const bool absorbed = (stop.what & Timeline<float>::kAbsorb) && stop.count > 0;
    if (absorbed && stop.time < absorb_until) last = stop.time;
  }
  return result;
}

void Calibration::apply(const Example& example, InferenceOptions::Marginals asked,
                        Answer& answer) const {
  if (empty()) return;
  const std::vector<double> ahead = horizons(*example.timeline, example.absorb_until);
  each_marginal(*example.timeline, asked, features.size(), answer,
                [&](std::size_t, std::size_t query, std::size_t j, Marginal& own) {
                  own = features[j].calibrated(own, ahead[query]);
                });
}

nlohmann::json to_json(const Calibration& calibration) {
  nlohmann::json features = nlohmann::json::array();
  for (const FeatureCalibration& own : calibration.features) {
    nlohmann::json ranges = nlohmann::json::array();
    for (const ConformalRange& range : own.ranges) {
      std::vector<double> promised, level;
      for (const ConformalStep& step : range.steps) {
        promised.push_back(step.promised);
        level.push_back(step.level);
      }
      ranges.push_back({{"until", range.until}, {"promised", promised}, {"level", level}});
    }
    features.push_back({{"log_factor", own.log_factor},
                        {"slope", own.slope},
                        {"reference", own.reference},
                        {"horizon_slope", own.horizon_slope},
                        {"horizon_unit", own.horizon_unit},
                        {"farthest", own.farthest},
                        {"dof", own.dof},
                        {"dof_slope", own.dof_slope},
                        {"windows", own.windows},
                        {"ranges", ranges}});
  }
  nlohmann::json json{{"features", features},
                      {"fit_series", calibration.fit_series},
                      {"conformal_series", calibration.conformal_series}};
  if (!calibration.correlations.empty()) json["correlations"] = to_json(calibration.correlations);
  return json;
}

Calibration calibration_from_json(const nlohmann::json& json, std::size_t features) {
  Calibration calibration;
  calibration.fit_series = count_from_json(json.at("fit_series"));
  calibration.conformal_series = count_from_json(json.at("conformal_series"));
  for (const nlohmann::json& from : json.at("features")) {
    FeatureCalibration& own = calibration.features.emplace_back();
    from.at("log_factor").get_to(own.log_factor);
    from.at("slope").get_to(own.slope);
    from.at("reference").get_to(own.reference);
    from.at("dof").get_to(own.dof);
    bool right = std::isfinite(own.log_factor) && std::isfinite(own.slope) && own.slope > -1 &&
                 own.reference > 0 && std::isfinite(own.reference) && own.dof > 2 &&
                 std::isfinite(own.dof);
    if (from.contains("windows")) {
      from.at("dof_slope").get_to(own.dof_slope);
      from.at("windows").get_to(own.windows);
      right = right && std::isfinite(own.dof_slope) && own.dof > FeatureCalibration::kLeastDof &&
              own.windows >= 0 && std::isfinite(own.windows);
    }
    if (from.contains("ranges")) {
      from.at("horizon_slope").get_to(own.horizon_slope);
      from.at("horizon_unit").get_to(own.horizon_unit);
      from.at("farthest").get_to(own.farthest);
      right = right && std::isfinite(own.horizon_slope) && own.horizon_unit > 0 &&
              std::isfinite(own.horizon_unit) && own.farthest >= 0 && std::isfinite(own.farthest);
      for (const nlohmann::json& range : from.at("ranges")) {
        const double until = range.at("until");
        right = right && std::isfinite(until) &&
                (own.ranges.empty() || until > own.ranges.back().until) &&
                read_steps(range, own.ranges.emplace_back(ConformalRange{until, {}}).steps);
      }
    } else {  // of a version that calibrated all horizons alike
      right =
          right && read_steps(from, own.ranges.emplace_back(ConformalRange{kAnyHorizon, {}}).steps);
    }
    if (!right) throw Error("its calibration contradicts itself");
  }
  if (calibration.features.size() != features)
    throw Error("its calibration is of another number of features");
  if (json.contains("correlations"))
    calibration.correlations = correlations_from_json(json.at("correlations"), features);
  return calibration;
}

}  // namespace edict
