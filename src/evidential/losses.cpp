#include "evidential/losses.h"

#include <cmath>
#include <numbers>

#include "evidential/block.h"
#include "evidential/gaussian.h"
#include "evidential/saturate.h"
#include "math/special.h"

namespace edict {

template <class S>
S student_t_nll(const Niw<S>& niw, const Observed<S>& observed, S weight, NiwGradient<S>& d_niw) {
  if (observed.count == 0) return S(0);
  const double m = static_cast<double>(observed.count);
  const double lambda = niw.lambda;
  const double half_d = 0.5 * (static_cast<double>(niw.nu) - static_cast<double>(niw.dim) + 1.0);

  Block r, inv_psi;
  const auto gather = [&](Index start, Index n) {
    for (Index i = 0; i < n; ++i) {
      const Index j = observed.feature[start + i];
      r[i] = static_cast<double>(observed.value[start + i]) - niw.mu[j];
      inv_psi[i] = -static_cast<double>(niw.log_psi[j]);
    }
  };
  double log_det = 0, sum = 0;  // Σ ln ψ and Σ r²/ψ
  for_each_block(observed.count, [&](Index start, Index n) {
    gather(start, n);
    log_det -= inv_psi.head(n).sum();
    exponentiate(inv_psi, n);
    sum += (r.head(n).square() * inv_psi.head(n)).sum();
  });
  const double kappa = lambda / (1.0 + lambda);
  const double q = kappa * sum;
  const double half_total = half_d + 0.5 * m;
  const double log_1q = std::log1p(q);
  const double loss = -log_gamma_ratio(half_d, 0.5 * m) +
                      0.5 * m * (std::log(std::numbers::pi) + std::log1p(1.0 / lambda)) +
                      0.5 * log_det + half_total * log_1q;

  const double w = weight;
  const double d_q = half_total / (1.0 + q);
  d_niw.d_nu += saturate<S>(w * 0.5 * (digamma(half_d) - digamma(half_total) + log_1q));
  // dκ/dλ = κ/(λ(1+λ)), and ln((1+λ)/λ) = −ln κ
  d_niw.d_lambda += saturate<S>(w * (d_q * q - 0.5 * m) / (lambda * (1.0 + lambda)));
  for_each_block(observed.count, [&](Index start, Index n) {
    if (observed.count > kBlock) {
      gather(start, n);
      exponentiate(inv_psi, n);
    }
    for (Index i = 0; i < n; ++i) {
      const Index j = observed.feature[start + i];
      const double pull = d_q * kappa * r[i] * inv_psi[i];
      d_niw.d_mu[j] += saturate<S>(w * -2.0 * pull);
      d_niw.d_log_psi[j] += saturate<S>(w * (0.5 - pull * r[i]));
    }
  });
  return saturate<S>(loss);
}

namespace {

// ln of the predictive variance is ln ψ + offset, offset = ln((1+λ)/λ) − ln(ν−D−1).
struct LogVarianceOffset {
  template <class S>
  explicit LogVarianceOffset(const Niw<S>& niw) {
    const double lambda = niw.lambda;
    const double excess = static_cast<double>(niw.nu) - static_cast<double>(niw.dim) - 1.0;
    value = std::log1p(1.0 / lambda) - std::log(excess);
    by_lambda = -1.0 / (lambda * (1.0 + lambda));
    by_nu = -1.0 / excess;
  }
  double value, by_lambda, by_nu;
};

}  // namespace

template <class S>
S gaussian_kl(const Niw<S>& pre, const Niw<S>& post, const Observed<S>& observed, S observation_std,
              S weight, NiwGradient<S>& d_pre, NiwGradient<S>& d_post) {
  const double w = weight;
  const ObservationNoise noise(observation_std);
  const LogVarianceOffset pre_offset(pre), post_offset(post);

  double loss = 0, d_pre_offset = 0, d_post_offset = 0;
  for (Index i = 0; i < observed.count; ++i) {
    const Index j = observed.feature[i];
    const GaussianKl kl =
        gaussian_bayes_kl(pre.mu[j], pre.log_psi[j] + pre_offset.value, post.mu[j],
                          post.log_psi[j] + post_offset.value, observed.value[i], noise);
    loss += kl.value;
    d_pre.d_mu[j] += saturate<S>(w * kl.d_mu_pre);
    d_pre.d_log_psi[j] += saturate<S>(w * kl.d_log_var_pre);
    d_pre_offset += kl.d_log_var_pre;
    d_post.d_mu[j] += saturate<S>(w * kl.d_mu_post);
    d_post.d_log_psi[j] += saturate<S>(w * kl.d_log_var_post);
    d_post_offset += kl.d_log_var_post;
  }
  d_pre.d_lambda += saturate<S>(w * d_pre_offset * pre_offset.by_lambda);
  d_pre.d_nu += saturate<S>(w * d_pre_offset * pre_offset.by_nu);
  d_post.d_lambda += saturate<S>(w * d_post_offset * post_offset.by_lambda);
  d_post.d_nu += saturate<S>(w * d_post_offset * post_offset.by_nu);
  return saturate<S>(loss);
}

template <class S>
S evidence_penalty(const Niw<S>& niw, const Observed<S>& observed, S weight,
                   NiwGradient<S>& d_niw) {
  const double w = weight;
  const double evidence = static_cast<double>(niw.lambda) + static_cast<double>(niw.nu);
  double distance = 0;
  for (Index i = 0; i < observed.count; ++i) {
    const Index j = observed.feature[i];
    const double error = static_cast<double>(niw.mu[j]) - observed.value[i];
    const double sign = (error > 0 ? 1.0 : 0.0) - (error < 0 ? 1.0 : 0.0);
    distance += std::abs(error);
    d_niw.d_mu[j] += saturate<S>(w * evidence * sign);
  }
  d_niw.d_lambda += saturate<S>(w * distance);
  d_niw.d_nu += saturate<S>(w * distance);
  return saturate<S>(distance * evidence);
}

#define EDICT_INSTANTIATE(S)                                                                      \
  template S student_t_nll(const Niw<S>&, const Observed<S>&, S, NiwGradient<S>&);                \
  template S gaussian_kl(const Niw<S>&, const Niw<S>&, const Observed<S>&, S, S, NiwGradient<S>&, \
                         NiwGradient<S>&);                                                        \
  template S evidence_penalty(const Niw<S>&, const Observed<S>&, S, NiwGradient<S>&);
EDICT_INSTANTIATE(float)
EDICT_INSTANTIATE(double)
#undef EDICT_INSTANTIATE

}  // namespace edict
