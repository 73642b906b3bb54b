#include "learn/posthoc/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/quantile.h"
#include "learn/posthoc/correlate.h"
#include "learn/posthoc/fuse.h"
#include "learn/posthoc/weighted_observations.h"
#include "math/nelder_mead.h"
#include "math/special.h"

namespace edict {
namespace {

// Values that repeat to the last digit would be fitted by no width at all.
constexpr double kLeastLogFactor = -2.8, kMostLogFactor = 2.8;  // 1/16 … 16
constexpr double kSteepest = 0.5, kSteepestDof = 3.0;           // of the slopes, to either side

// Observations without which nothing is learnt.
constexpr std::size_t kFewest = 20;

// Series or groups that can be halved, and those with an observation in a range of horizons.
constexpr std::size_t kFewestUnits = 20, kFewestInRange = 9;
constexpr std::size_t kRanges = 3;

// Log factor, slope, horizon slope, ln(dof − kLeastDof), slope of that by the horizon.
using Map = std::array<double, 5>;

constexpr Map kUnfitted{0.0, 0.0, 0.0, 1.5, 0.0};
// How far a map may be from what it is held to before that costs as much as a series or two: wide
// for all features together, narrower for a feature's own, but for its tails.
constexpr Map kSpreadOfAll{1.0, 0.5, 0.5, 2.0, 1.0}, kSpreadOfOne{0.5, 0.25, 0.25, 2.0, 0.5};

// What a map makes of a feature whose usual scale is known.
FeatureCalibration calibration_of(const Map& map) {
  FeatureCalibration own;
  own.log_factor = map[0];
  own.slope = map[1];
  own.horizon_slope = map[2];
  own.dof = FeatureCalibration::kLeastDof + std::exp(map[3]);
  own.dof_slope = map[4];
  return own;
}

Map bounded(const Map& map) {
  return {std::clamp(map[0], kLeastLogFactor, kMostLogFactor),
          std::clamp(map[1], -kSteepest, kSteepest), std::clamp(map[2], -kSteepest, kSteepest),
          std::clamp(map[3], FeatureCalibration::kLeastLogDof, FeatureCalibration::kMostLogDof),
          std::clamp(map[4], -kSteepestDof, kSteepestDof)};
}

// An observation with what the fit needs of it.
struct Fitted {
  double error;      // x − mean
  double log_scale;  // of the model's scale
  double above;      // by how much that exceeds the feature's usual one, as far as it counts
  double ahead;      // ln(1 + horizon/τ)
  double weight;
  std::size_t window;
};

double negative_log_likelihood(std::span<const Fitted> observations, const Map& asked) {
  const Map map = bounded(asked);
  const FeatureCalibration own = calibration_of(map);
  double sum = 0, weight = 0, ahead = -1.0, dof = 0, constant = 0;
  for (const Fitted& o : observations) {
    if (o.ahead != ahead) {
      ahead = o.ahead;
      dof = own.dof_at(ahead);
      constant = 0.5 * std::log(dof) - log_gamma_ratio(0.5 * dof, 0.5);
    }
    const double log_scale = o.log_scale + map[0] + map[1] * o.above + map[2] * o.ahead;
    const double z = o.error * std::exp(-log_scale);
    sum += o.weight * (constant + log_scale + 0.5 * (dof + 1.0) * std::log1p(z * z / dof));
    weight += o.weight;
  }
  return sum / weight;
}

double window_count(std::span<const Fitted> observations) {
  std::set<std::size_t> windows;
  for (const Fitted& o : observations) windows.insert(o.window);
  return static_cast<double>(windows.size());
}

Map fitted_map(std::span<const Fitted> observations, const Map& held_to, const Map& spread) {
  const double count = window_count(observations);  // what counts against the prior
  const auto cost = [&](const Map& map) {
    double held = 0;
    for (std::size_t k = 0; k < map.size(); ++k) {
      const double off = (map[k] - held_to[k]) / spread[k];
      held += 0.5 * off * off;
    }
    return negative_log_likelihood(observations, map) + held / count;
  };
  return bounded(nelder_mead(cost, held_to, Map{0.2, 0.1, 0.1, 0.5, 0.2}));
}

// Of a feature, by the series that fit it; also finds the feature's usual scale.
std::vector<Fitted> fitted_observations(std::span<const WeightedObservation> observations,
                                        const std::vector<bool>& fits,
                                        std::span<const std::size_t> window_of, double horizon_unit,
                                        double& reference) {
  std::vector<Fitted> fitted;
  double sum = 0, weight = 0;
  for (const WeightedObservation& o : observations) {
    if (!fits[o.series]) continue;
    fitted.push_back({o.observed - o.expected.mean, std::log(o.expected.scale), 0.0,
                      std::log1p(o.horizon / horizon_unit), o.weight, window_of[o.series]});
    sum += o.weight * fitted.back().log_scale;
    weight += o.weight;
  }
  if (fitted.empty()) return fitted;
  constexpr double kFarthest = FeatureCalibration::kFarthest;
  for (Fitted& o : fitted) o.above = std::clamp(o.log_scale - sum / weight, -kFarthest, kFarthest);
  reference = std::exp(sum / weight);
  return fitted;
}

// Numbers windows of forecasts such that those that overlap share a number.
class WindowNumbers {
 public:
  std::size_t next(const Timeline<float>& timeline) {
    const bool forecasts = std::ranges::none_of(
        timeline.stops, [](const auto& stop) { return stop.what & Timeline<float>::kAbsorb; });
    const bool overlaps = forecasts && timeline.id == id_ && !timeline.stops.empty() &&
                          timeline.stops.front().time <= end_;
    if (overlaps) return number_;
    id_ = timeline.id;
    end_ = forecasts && !timeline.stops.empty() ? timeline.stops.back().time : -kInfinity;
    return ++number_;
  }

 private:
  std::size_t number_ = 0;
  std::string id_;
  double end_ = -kInfinity;
};

bool in_first_half(std::string_view id) {
  return (Hash().text("calibrate").text(id).value() & 1) != 0;
}

}  // namespace

CalibrationHalves calibration_halves(const Timelines& timelines) {
  CalibrationHalves halves;
  std::map<std::string, std::size_t> units;
  std::vector<bool> fits;  // of each unit
  WindowNumbers windows;
  for (std::size_t i = 0; i < timelines.size(); ++i) {
    const Timeline<float> timeline = timelines[i];
    const auto [unit, is_new] = units.emplace(timeline.unit, units.size());
    if (is_new) fits.push_back(in_first_half(unit->first));
    halves.unit_of.push_back(unit->second);
    halves.window_of.push_back(windows.next(timeline));
  }
  if (units.size() < kFewestUnits) fits.assign(fits.size(), true);
  for (std::size_t i = 0; i < timelines.size(); ++i)
    (fits[halves.unit_of[i]] ? halves.fit : halves.promise).push_back(i);
  halves.fit_units = static_cast<std::size_t>(std::ranges::count(fits, true));
  halves.promise_units = units.size() - halves.fit_units;
  return halves;
}

namespace {

// Where horizons are divided evenly, ascending; the last is the largest.
std::vector<double> range_ends(std::vector<double> horizons) {
  std::sort(horizons.begin(), horizons.end());
  std::vector<double> ends;
  for (std::size_t k = 1; k <= kRanges; ++k) {
    const double end = horizons[(horizons.size() - 1) * k / kRanges];
    if (ends.empty() || end > ends.back()) ends.push_back(end);
  }
  return ends;
}

// What intervals of a feature promise, by observations that did not fit its map.
std::vector<ConformalRange> conformal_ranges(std::span<const WeightedObservation> observations,
                                             const std::vector<bool>& fits,
                                             std::span<const std::size_t> unit_of,
                                             const FeatureCalibration& map) {
  std::vector<double> horizons;
  for (const WeightedObservation& o : observations)
    if (!fits[o.series]) horizons.push_back(o.horizon);
  if (horizons.empty()) return {};
  std::vector<ConformalRange> ranges;
  std::map<std::size_t, std::vector<double>> levels;  // of each unit, in the range at hand
  const std::vector<double> ends = range_ends(std::move(horizons));
  double begin = -1.0;
  for (const double end : ends) {
    for (const WeightedObservation& o : observations)
      if (!fits[o.series] && o.horizon > begin && o.horizon <= end)
        levels[unit_of[o.series]].push_back(
            central_level(map.calibrated(o.expected, o.horizon), o.observed));
    begin = end;
    if (levels.size() < kFewestInRange) continue;  // together with the next
    std::vector<std::vector<double>> of_unit;
    for (auto& [unit, own] : levels) of_unit.push_back(std::move(own));
    ranges.push_back({end, conformal_steps(of_unit)});
    levels.clear();
  }
  return ranges;
}

}  // namespace

Calibration fit_calibration(const Model& model, const Timelines& timelines, ThreadPool& pool,
                            StopFlag stop) {
  const auto observations = weighted_observations(model, timelines, pool, stop);
  const CalibrationHalves halves = calibration_halves(timelines);
  std::vector<bool> fits(timelines.size(), false);
  for (const std::size_t i : halves.fit) fits[i] = true;

  const std::size_t features = model.features.size();
  std::vector<double> horizons;
  for (const auto& of_feature : observations)
    for (const WeightedObservation& o : of_feature) horizons.push_back(o.horizon);
  if (horizons.empty()) return {};
  const double farthest = *std::max_element(horizons.begin(), horizons.end());
  const double middle = median(std::move(horizons));
  const double horizon_unit = middle > 0 ? middle : farthest > 0 ? farthest : 1.0;

  std::vector<std::vector<Fitted>> of_feature(features);
  std::vector<double> reference(features, 1.0);
  std::vector<Fitted> of_all;
  for (std::size_t j = 0; j < features; ++j) {
    of_feature[j] =
        fitted_observations(observations[j], fits, halves.window_of, horizon_unit, reference[j]);
    // One of which nothing is learnt says nothing of the others' errors.
    if (!is_unlearnt(model.config.model, j))
      of_all.insert(of_all.end(), of_feature[j].begin(), of_feature[j].end());
  }
  if (of_all.size() < kFewest) return {};

  const Map all = fitted_map(of_all, kUnfitted, kSpreadOfAll);
  Calibration calibration;
  calibration.fit_series = halves.fit_units;
  calibration.conformal_series = halves.promise_units;
  calibration.features.resize(features);
  pool.for_each(features, [&](std::size_t j, std::size_t) {
    const Map map = of_feature[j].empty() ? all : fitted_map(of_feature[j], all, kSpreadOfOne);
    FeatureCalibration& own = calibration.features[j];
    own = calibration_of(map);
    if (of_feature[j].empty()) own.slope = 0.0;
    own.reference = reference[j];
    own.horizon_unit = horizon_unit;
    own.farthest = farthest;
    own.windows = window_count(of_feature[j].empty() ? of_all : of_feature[j]);
    own.ranges = conformal_ranges(observations[j], fits, halves.unit_of, own);
  });
  std::vector<ScoredObservation> scored;
  for (std::size_t j = 0; j < features; ++j)
    for (const WeightedObservation& o : observations[j])
      if (fits[o.series])
        scored.push_back(
            {o.series, o.event, j,
             normal_score(calibration.features[j].calibrated(o.expected, o.horizon), o.observed),
             o.weight});
  calibration.correlations = fit_correlations(std::move(scored), features);
  return calibration;
}

void calibrate_trained(Model& model, const Dataset& data, std::span<const std::size_t> validation,
                       ThreadPool& pool, StopFlag stop) {
  const TrainSettings& settings = model.config.train;
  const Timelines timelines =
      validation_timelines(model, data, after_training(data, model.config.data, validation));
  if (settings.calibrate) model.calibration = fit_calibration(model, timelines, pool, stop);
  if (model.has_backward()) model.fusion = fit_fusion(model, timelines, pool, stop);
}

}  // namespace edict
