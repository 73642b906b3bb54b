#include "edict/train/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "edict/core/hash.h"
#include "edict/math/nelder_mead.h"
#include "edict/math/special.h"
#include "edict/train/correlate.h"
#include "edict/train/fuse.h"
#include "edict/train/recalibrate.h"
#include "edict/train/weighted_observations.h"

namespace edict {
namespace {

// A Student-t of 2 has no variance, and near that one that says nothing.
constexpr double kDofAbove = 2.1;
constexpr double kLeastLogDof = -2.0, kMostLogDof = 6.0;  // of dof − kDofAbove: 2.2 … 406
// Values that repeat to the last digit would be fitted by no width at all.
constexpr double kLeastLogFactor = -2.8, kMostLogFactor = 2.8;  // 1/16 … 16
constexpr double kSteepest = 0.5;                               // of the slope, to either side

// Observations in each half, without which nothing is learnt.
constexpr std::size_t kFewest = 20;

using Map = std::array<double, 3>;  // log factor, slope, ln(dof − kDofAbove)

constexpr Map kUnfitted{0.0, 0.0, 1.5};
// How far a map may be from what it is held to before that costs as much as an observation or two:
// wide for all features together, narrower for a feature's own, but for its tails.
constexpr Map kSpreadOfAll{1.0, 0.5, 2.0}, kSpreadOfOne{0.5, 0.25, 2.0};

double dof_of(const Map& map) { return kDofAbove + std::exp(map[2]); }

Map bounded(const Map& map) {
  return {std::clamp(map[0], kLeastLogFactor, kMostLogFactor),
          std::clamp(map[1], -kSteepest, kSteepest), std::clamp(map[2], kLeastLogDof, kMostLogDof)};
}

// An observation with what the fit needs of it.
struct Fitted {
  double error;      // x − mean
  double log_scale;  // of the model's scale
  double above;      // by how much that exceeds the feature's usual one, as far as it counts
  double weight;
};

double negative_log_likelihood(std::span<const Fitted> observations, const Map& asked) {
  const Map map = bounded(asked);
  const double dof = dof_of(map);
  const double constant = 0.5 * std::log(dof) - log_gamma_ratio(0.5 * dof, 0.5);
  double sum = 0, weight = 0;
  for (const Fitted& o : observations) {
    const double log_scale = o.log_scale + map[0] + map[1] * o.above;
    const double z = o.error * std::exp(-log_scale);
    sum += o.weight * (constant + log_scale + 0.5 * (dof + 1.0) * std::log1p(z * z / dof));
    weight += o.weight;
  }
  return sum / weight;
}

Map fitted_map(std::span<const Fitted> observations, const Map& held_to, const Map& spread) {
  const auto count = static_cast<double>(observations.size());
  const auto cost = [&](const Map& map) {
    double held = 0;
    for (std::size_t k = 0; k < map.size(); ++k) {
      const double off = (map[k] - held_to[k]) / spread[k];
      held += 0.5 * off * off;
    }
    return negative_log_likelihood(observations, map) + held / count;
  };
  return bounded(nelder_mead(cost, held_to, Map{0.2, 0.1, 0.5}));
}

// Of a feature, by the series that fit it; also tells the feature's usual scale.
std::vector<Fitted> fitted_observations(std::span<const WeightedObservation> observations,
                                        const std::vector<bool>& fits, double& reference) {
  std::vector<Fitted> fitted;
  double sum = 0, weight = 0;
  for (const WeightedObservation& o : observations) {
    if (!fits[o.series]) continue;
    fitted.push_back({o.x - o.expected.mean, std::log(o.expected.scale), 0.0, o.weight});
    sum += o.weight * fitted.back().log_scale;
    weight += o.weight;
  }
  if (fitted.empty()) return fitted;
  constexpr double kFarthest = FeatureCalibration::kFarthest;
  for (Fitted& o : fitted) o.above = std::clamp(o.log_scale - sum / weight, -kFarthest, kFarthest);
  reference = std::exp(sum / weight);
  return fitted;
}

bool in_first_half(std::string_view id) {
  return (Hash().text("calibrate").text(id).value() & 1) != 0;
}

}  // namespace

CalibrationHalves calibration_halves(const Agendas& agendas) {
  CalibrationHalves halves;
  for (std::size_t i = 0; i < agendas.size(); ++i)
    (in_first_half(agendas[i].id) ? halves.fit : halves.promise).push_back(i);
  return halves;
}

Calibration fit_calibration(const Model& model, const Agendas& agendas, ThreadPool& pool,
                            StopFlag stop) {
  const auto observations = weighted_observations(model, agendas, pool, stop);
  const CalibrationHalves halves = calibration_halves(agendas);
  std::vector<bool> fits(agendas.size(), false);
  for (const std::size_t i : halves.fit) fits[i] = true;

  const std::size_t features = model.features.size();
  std::vector<std::vector<Fitted>> of_feature(features);
  std::vector<double> reference(features, 1.0);
  std::vector<Fitted> of_all;
  std::size_t promised = 0;
  for (std::size_t j = 0; j < features; ++j) {
    of_feature[j] = fitted_observations(observations[j], fits, reference[j]);
    promised += observations[j].size() - of_feature[j].size();
    of_all.insert(of_all.end(), of_feature[j].begin(), of_feature[j].end());
  }
  if (of_all.size() < kFewest || promised < kFewest) return {};

  const Map all = fitted_map(of_all, kUnfitted, kSpreadOfAll);
  Calibration calibration;
  calibration.fit_series = halves.fit.size();
  calibration.conformal_series = halves.promise.size();
  calibration.features.resize(features);
  pool.for_each(features, [&](std::size_t j, std::size_t) {
    const Map map = of_feature[j].empty() ? all : fitted_map(of_feature[j], all, kSpreadOfOne);
    FeatureCalibration& own = calibration.features[j];
    own.log_factor = map[0];
    own.slope = of_feature[j].empty() ? 0.0 : map[1];
    own.reference = reference[j];
    own.dof = dof_of(map);
    std::vector<std::vector<double>> levels;
    std::size_t last = agendas.size();  // series; none yet
    for (const WeightedObservation& o : observations[j]) {
      if (fits[o.series]) continue;
      if (o.series != last) levels.emplace_back();
      last = o.series;
      levels.back().push_back(central_level(own.calibrated(o.expected), o.x));
    }
    own.steps = conformal_steps(levels);
  });
  std::vector<ScoredObservation> scored;
  for (std::size_t j = 0; j < features; ++j)
    for (const WeightedObservation& o : observations[j])
      if (fits[o.series])
        scored.push_back({o.series, o.stop, j,
                          normal_score(calibration.features[j].calibrated(o.expected), o.x),
                          o.weight});
  calibration.correlations = fit_correlations(std::move(scored), features);
  return calibration;
}

void calibrate_trained(Model& model, const Agendas& agendas, ThreadPool& pool, StopFlag stop) {
  const TrainSettings& settings = model.config.train;
  if (settings.calibrate)
    model.calibration = fit_calibration(model, agendas, pool, stop);
  else if (settings.recalibrate)
    recalibrate(model, agendas, pool, stop);
  if (model.has_backward()) model.fusion = fit_fusion(model, agendas, pool, stop);
}

}  // namespace edict
