#include <algorithm>
#include <cmath>

#include "evidential/block.h"
#include "evidential/losses.h"
#include "evidential/saturate.h"
#include "math/multivariate_gamma.h"

namespace edict {
namespace {

// Σ p_j over features, p_j ≥ 0, beside a signed Σ s_j, that can also be had without feature j: the
// feature of the largest p is kept apart, because total − largest would lose every digit of the
// others.
class SumOfParts {
 public:
  void add(double part, double companion) {
    const bool leads = part > largest_;
    others_ += leads ? largest_ : part;
    companions_ += leads ? companion_of_largest_ : companion;
    largest_ = leads ? part : largest_;
    companion_of_largest_ = leads ? companion : companion_of_largest_;
  }
  double total() const { return others_ + largest_; }
  double companions() const { return companions_ + companion_of_largest_; }
  double without(double part) const { return 2.0 * part > total() ? others_ : total() - part; }
  double companions_without(double part, double companion) const {
    return 2.0 * part > total() ? companions_ : companions() - companion;
  }

 private:
  double others_ = 0, largest_ = 0, companions_ = 0, companion_of_largest_ = 0;
};

}  // namespace

// 1 is the Bayes target, 0 is post, both on O. With r = x − μ, c = λ/(λ+1), a = r/ψ:
//   λ1 = λ+1,  n1 = ν−D+m+1,  μ1 = μ + r/λ1,  Ψ1 = diag ψ + c r rᵀ,  n0 = ν_post−D+m
//   |Ψ1| = (1+q) Π ψ with q = c Σ r²/ψ,   Ψ1⁻¹ = diag(1/ψ) − c/(1+q) a aᵀ
//   KL = ½[m(λ0/λ1 − 1 − ln(λ0/λ1)) + λ0 n1 ΔᵀΨ1⁻¹Δ] + (n0/2) ln(|Ψ1|/|Ψ0|)
//        + (n1/2)(tr Ψ0Ψ1⁻¹ − m) + gap(n0/2, n1/2),   Δ = μ1 − μ0
// One feature far from its prediction makes q huge and 1+q−q_j a difference of huge numbers; hence
// the sums without j below, and for ΔᵀΨ1⁻¹Δ the split Δ = β r + e with e ⟂ r in the metric 1/ψ.
template <class S>
S niw_kl(const Niw<S>& pre, const Niw<S>& post, const Observed<S>& observed, S weight,
         NiwGradient<S>& d_pre, NiwGradient<S>& d_post) {
  if (observed.count == 0) return S(0);
  const double m = static_cast<double>(observed.count);
  const double lambda0 = post.lambda, lambda1 = static_cast<double>(pre.lambda) + 1.0;
  const double n0 = static_cast<double>(post.nu) - static_cast<double>(post.dim) + m;
  const double n1 = static_cast<double>(pre.nu) - static_cast<double>(pre.dim) + m + 1.0;
  const double inv_lambda1 = 1.0 / lambda1, c = static_cast<double>(pre.lambda) * inv_lambda1;

  Block r, delta, inv_psi, ratio;  // ratio = ψ0/ψ
  double log_det_ratio = 0;        // ln(Πψ/Πψ0), then ln(|Ψ1|/|Ψ0|)
  const auto gather = [&](Index start, Index n) {
    for (Index i = 0; i < n; ++i) {
      const Index j = observed.feature[start + i];
      const double mu = pre.mu[j], log_psi = pre.log_psi[j];
      r[i] = static_cast<double>(observed.value[start + i]) - mu;
      delta[i] = mu + r[i] * inv_lambda1 - post.mu[j];
      inv_psi[i] = -log_psi;
      ratio[i] = static_cast<double>(post.log_psi[j]) - log_psi;
    }
    const double log_ratio = ratio.head(n).sum();
    exponentiate(inv_psi, n);
    exponentiate(ratio, n);
    return log_ratio;
  };

  SumOfParts q_sum, p_sum;  // Σ c r²/ψ beside Σ Δr/ψ, and Σ c ψ0 r²/ψ²
  for_each_block(observed.count, [&](Index start, Index n) {
    log_det_ratio -= gather(start, n);
    for (Index i = 0; i < n; ++i) {
      const double q_i = c * r[i] * r[i] * inv_psi[i];
      q_sum.add(q_i, delta[i] * r[i] * inv_psi[i]);
      p_sum.add(q_i * ratio[i], 0.0);
    }
  });
  const double q = q_sum.total(), inv_1q = 1.0 / (1.0 + q), cross = q_sum.companions();
  const double beta = q > 0 ? c * cross / q : 0.0;
  log_det_ratio += std::log1p(q);
  // rᵀΨ1⁻¹Δ, rᵀΨ1⁻¹r and rᵀΨ1⁻¹Ψ0Ψ1⁻¹r
  const double r_delta = cross * inv_1q, r_r = q / c * inv_1q;
  const double r_p_r = p_sum.total() / c * inv_1q * inv_1q;

  // With v = Ψ1⁻¹Δ, the gradient by Ψ1 is
  //   W = (n0/2)Ψ1⁻¹ − (n1/2)Ψ1⁻¹Ψ0Ψ1⁻¹ − ½ λ0 n1 v vᵀ;
  // it reaches ψ_j through W_jj, r through 2c W r, and c through rᵀW r.
  const double w = weight, pull = lambda0 * n1;
  double mahalanobis = 0, trace_minus_m = 0;  // ΔᵀΨ1⁻¹Δ, Σ (ψ0_j (Ψ1⁻¹)_jj − 1)
  for_each_block(observed.count, [&](Index start, Index n) {
    if (observed.count > kBlock) gather(start, n);
    for (Index i = 0; i < n; ++i) {
      const Index j = observed.feature[start + i];
      const double a = r[i] * inv_psi[i];
      const double e = delta[i] - beta * r[i];
      const double q_i = c * r[i] * r[i] * inv_psi[i];
      const double kept = (1.0 + q_sum.without(q_i)) * inv_1q;  // ψ_j (Ψ1⁻¹)_jj
      const double cross_others = q_sum.companions_without(q_i, delta[i] * a) * inv_1q;
      const double v = delta[i] * kept * inv_psi[i] - c * a * cross_others;  // (Ψ1⁻¹Δ)_j
      const double p_others = p_sum.without(q_i * ratio[i]) * inv_1q;
      const double p_jj = ratio[i] * kept;  // ψ0_j (Ψ1⁻¹)_jj
      mahalanobis += e * e * inv_psi[i] + beta * beta * r[i] * a * inv_1q;
      trace_minus_m += p_jj - 1.0;

      d_post.d_mu[j] += saturate<S>(-w * pull * v);
      d_post.d_log_psi[j] += saturate<S>(w * 0.5 * (n1 * p_jj - n0));

      // ψ_j (Ψ1⁻¹Ψ0Ψ1⁻¹)_jj and (Ψ1⁻¹Ψ0Ψ1⁻¹r)_j
      const double sandwich = p_jj * kept + q_i * inv_1q * p_others;
      const double sandwich_r = a * inv_1q * (p_jj - p_others);
      const double psi_w = 0.5 * (n0 * kept - n1 * sandwich - pull * v * v / inv_psi[i]);
      const double w_r = 0.5 * (n0 * a * inv_1q - n1 * sandwich_r - pull * v * r_delta);
      d_pre.d_log_psi[j] += saturate<S>(w * psi_w);
      d_pre.d_mu[j] += saturate<S>(w * c * (pull * v - 2.0 * w_r));
    }
  });

  const double t = lambda0 / lambda1 - 1.0;
  const TangentGap gap = log_multivariate_gamma_gap(0.5 * n0, 0.5 * n1, observed.count);
  const double loss = 0.5 * (m * (t - std::log1p(t)) + pull * mahalanobis + n0 * log_det_ratio +
                             n1 * trace_minus_m) +
                      gap.value;

  d_post.d_lambda += saturate<S>(w * 0.5 * (m * (inv_lambda1 - 1.0 / lambda0) + n1 * mahalanobis));
  d_post.d_nu += saturate<S>(w * 0.5 * (log_det_ratio + gap.d_a0));
  // dμ1/dλ = −r/λ1², dc/dλ = 1/λ1²
  const double r_w_r = 0.5 * (n0 * r_r - n1 * r_p_r - pull * r_delta * r_delta);
  d_pre.d_lambda += saturate<S>(
      w * (-0.5 * m * t * inv_lambda1 + (r_w_r - pull * r_delta) * inv_lambda1 * inv_lambda1));
  d_pre.d_nu += saturate<S>(w * 0.5 * (lambda0 * mahalanobis + trace_minus_m + gap.d_a1));
  return saturate<S>(loss);
}

template float niw_kl(const Niw<float>&, const Niw<float>&, const Observed<float>&, float,
                      NiwGradient<float>&, NiwGradient<float>&);
template double niw_kl(const Niw<double>&, const Niw<double>&, const Observed<double>&, double,
                       NiwGradient<double>&, NiwGradient<double>&);

}  // namespace edict
