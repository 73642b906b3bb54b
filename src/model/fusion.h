// How what a model expects from the past and what it expects from the future become one
// distribution (train.smooth). It is found on series that the weights were not trained on
// (learn/posthoc/fuse.h) and travels in the model file.
//
// With Gaussians p(x | all) ∝ p(x | past)·p(x | future)/p(x): precisions add, and what is known
// without either side, which both of them contain, is taken out once. Of a feature, with means mᵢ
// and scales sᵢ from either side, i = f, b,
//
//   λ_f = (s_f/s₀)^−2p,   λ_b = e^b·(s_b/s₀)^−2p,   λ₀ = max(c, −min(λ_f, λ_b))
//   mean   = (λ_f·m_f + λ_b·m_b + λ₀·m)/W,   W = λ_f + λ_b + λ₀
//   scale² = (s·e^a·(s/s₀)^r)² + e^g·λ_f·λ_b/W²·(m_f − m_b)²,   1/s² = 1/s_f² + 1/s_b²
//
// with degrees of freedom ν of its own. The exponent p lets a side that is surer count for more
// than its precision: scales hold the noise of a measurement as well, below which neither comes.
// Where nothing comes before, the past says what is known without either side, and λ₀ takes it out.
// s/s₀ counts as far as e^±2, as in a calibration (calibration.h), which this is as well: a, r and
// ν are fitted to what is told. The last term of the scale widens where the sides contradict each
// other, which a product of Gaussians would not notice.
//
// Of the variance, what the contradiction adds is epistemic; the rest is divided as the two sides
// divide theirs, each with its weight in the mean.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/heads/marginal.h"

namespace edict {

// Of the product of two Gaussians.
double product_scale(const Marginal& a, const Marginal& b);

struct FeatureFusion {
  static constexpr double kFarthest = 2.0;  // of |ln s/s₀|

  double reference = 1.0;         // s₀
  double power = 1.0;             // p
  double log_backward = 0.0;      // b
  double prior = 0.0;             // c
  double centre = 0.0;            // m
  double log_factor = 0.0;        // a
  double slope = 0.0;             // r
  double log_disagreement = 0.0;  // g
  double dof = 0.0;               // ν > 2

  Marginal fused(const Marginal& forward, const Marginal& backward) const;
};

struct Fusion {
  std::vector<FeatureFusion> features;  // in the model's order; empty: none
  std::size_t fit_series = 0;

  bool empty() const { return features.empty(); }
};

nlohmann::json to_json(const Fusion& fusion);
// Throws Error, or nlohmann's exception, where the text is not a fusion of so many features.
Fusion fusion_from_json(const nlohmann::json& json, std::size_t features);

}  // namespace edict
