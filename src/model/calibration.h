// A last step between a model's distributions and what is told of them, found on series that its
// weights were not trained on (learn/posthoc/calibrate.h). It travels in the model file.
//
// The probability transform u = F(x) of a feature goes through a monotone map G that makes it
// uniform. G has few parameters and is such that a Student-t comes out again: with s and ν the
// model's scale and degrees of freedom,
//
//   G(u) = T_ν'(s/s' · T_ν⁻¹(u)),   s' = s·e^a·(s/s₀)^b·(1 + t/τ)^c,   that is, x ~ mean + s'·T_ν'
//   1/ν' = 1/ν(t) + 1/n,            ν(t) = 2.1 + (ν₀ − 2.1)·(1 + t/τ)^d
//
// with t the horizon, the time since the series was last observed (s/s₀ counts as far as e^±2 and t
// as far as it was calibrated; beyond that nothing is known) so that density, quantiles and
// probabilities stay exact, everything that reads a Marginal works as before, and the mean stays
// where it was. a widens or narrows, b does so the more the surer the model was, c the further it
// looks ahead, and ν₀ and d give each feature tails of its own for near and for far forecasts,
// where the model has one ν for all of them. n is the number of series, or of windows that do not
// overlap, that the map was fitted to: ln s' is known to a variance of 1/2n only, which the tails
// allow for (a Student-t with ν degrees of freedom mixes normal ones whose ln s has a variance of
// 1/2ν). Aleatoric and epistemic variance keep their ratio; their sum is the variance of the new
// Student-t.
//
// Intervals with a promise (conformal prediction over series; Lee, Barber & Willett 2023,
// "Distribution-free inference with hierarchical data"): from n calibration series with
// observations of a feature, each of which weighs 1/(n + 1) however many it has, the level of the
// central interval is raised or lowered until those inside weigh what was promised. An
// observation drawn at random from a new series then lies inside with at least that probability,
// over calibration and new series, whatever the model is worth, as long as series are exchangeable.
// It is no promise for a given series, nor along its time. Levels are found for ranges of the
// horizon apart, so that the promise holds for near and for far forecasts; beyond the farthest
// nothing is promised. Where whole groups of series belong together, groups take the place of
// series.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/not_finite.h"
#include "engine/network.h"
#include "model/correlations.h"

namespace edict {

// What a central interval must be asked for so as to hold what was promised.
struct ConformalStep {
  double promised;  // up to this
  double level;
};

// The steps that hold for horizons up to `until`, from where the range before ends.
struct ConformalRange {
  double until;
  std::vector<ConformalStep> steps;  // ascending
};

// The steps from the levels of the central intervals that just reach each observation, of each
// series with at least one. Promises between steps take the next, so that they are kept.
std::vector<ConformalStep> conformal_steps(std::span<const std::vector<double>> of_series);

// The level to ask for; 1, the whole line, where more is promised than the series can tell.
double conformal_level(std::span<const ConformalStep> steps, double promised);

struct FeatureCalibration {
  static constexpr double kFarthest = 2.0;  // of |ln s/s₀|
  // A Student-t of 2 has no variance, and near that one that says nothing.
  static constexpr double kLeastDof = 2.1;
  static constexpr double kLeastLogDof = -2.0, kMostLogDof = 6.0;  // of ν(t) − 2.1

  double log_factor = 0.0;             // a
  double slope = 0.0;                  // b
  double reference = 1.0;              // s₀
  double horizon_slope = 0.0;          // c
  double horizon_unit = 1.0;           // τ, in the model's time as all horizons here
  double farthest = 0.0;               // the largest horizon that c was found by
  double dof = 0.0;                    // ν₀ > 2
  double dof_slope = 0.0;              // d
  double windows = 0.0;                // n; 0: not counted, as by version 1
  std::vector<ConformalRange> ranges;  // ascending; empty where no series had the feature

  Marginal calibrated(const Marginal& marginal, double horizon) const;
  // ν' at ahead = ln(1 + t/τ).
  double dof_at(double ahead) const;
  // The steps that hold at a horizon; none where it is beyond what was calibrated.
  std::span<const ConformalStep> steps_at(double horizon) const;
};

struct Calibration {
  std::vector<FeatureCalibration> features;          // in the model's order; empty: none
  std::size_t fit_series = 0, conformal_series = 0;  // two different sets of series, or of groups
  Correlations correlations = {};                    // of the features; marginals stay as they are

  bool empty() const { return features.empty(); }
  Marginal calibrated(std::size_t feature, const Marginal& marginal, double horizon) const {
    return empty() ? marginal : features[feature].calibrated(marginal, horizon);
  }
  // Every marginal of an answer to these options.
  void apply(const Example& example, InferenceOptions::Marginals asked, Answer& answer) const;
};

// Of each query of a timeline: the time since something was absorbed, or since the start.
std::vector<double> horizons(const Timeline<float>& timeline, double absorb_until = kInfinity);

nlohmann::json to_json(const Calibration& calibration);
// Throws Error, or nlohmann's exception, where the text is not a calibration of so many features.
Calibration calibration_from_json(const nlohmann::json& json, std::size_t features);

}  // namespace edict
