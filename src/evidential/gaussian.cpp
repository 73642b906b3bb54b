#include "evidential/gaussian.h"

#include <cmath>
#include <numbers>

#include "evidential/saturate.h"

namespace edict {

ObservationNoise::ObservationNoise(double std) : var(std * std), log_var(2.0 * std::log(std)) {}

GaussianKl gaussian_bayes_kl(double mu_pre, double log_var_pre, double mu_post, double log_var_post,
                             double x, const ObservationNoise& noise) {
  // The gain k = σ²/(σ² + s²) and 1 − k, both to full precision: e ≤ 1 is the smaller variance
  // over the larger.
  const double log_odds = log_var_pre - noise.log_var;
  const double e = std::exp(-std::abs(log_odds));
  const double larger = 1.0 / (1.0 + e), smaller = e * larger;
  const double k = log_odds >= 0 ? larger : smaller;
  const double one_minus_k = log_odds >= 0 ? smaller : larger;

  // Bayes has mean μ + k(x−μ) and variance k·s².
  const double log_var_ratio = (log_odds >= 0 ? noise.log_var : log_var_pre) - std::log1p(e) -
                               log_var_post;  // ln(σ²_Bayes/σ²_post)
  const double precision = std::exp(-log_var_post);
  const double var_ratio = k * noise.var * precision;
  const double innovation = x - mu_pre;
  const double delta = mu_pre + k * innovation - mu_post;
  const double pull = delta * precision;

  GaussianKl kl;
  kl.value = 0.5 * (var_ratio - 1.0 - log_var_ratio + delta * pull);
  kl.d_mu_pre = one_minus_k * pull;
  kl.d_log_var_pre = one_minus_k * (0.5 * (var_ratio - 1.0) + pull * innovation * k);
  kl.d_mu_post = -pull;
  kl.d_log_var_post = 0.5 * (1.0 - var_ratio - delta * pull);
  return kl;
}

template <class S>
S gaussian_nll(const Gaussian<S>& gaussian, const Observed<S>& observed, S weight,
               const GaussianGradient<S>& d_gaussian) {
  const double w = weight;
  double loss = 0;
  for (Index i = 0; i < observed.count; ++i) {
    const Index j = observed.feature[i];
    const double log_var = gaussian.log_var[j];
    const double r = static_cast<double>(observed.value[i]) - gaussian.mu[j];
    const double scaled = r * std::exp(-log_var);
    loss += 0.5 * (std::log(2.0 * std::numbers::pi) + log_var + r * scaled);
    d_gaussian.d_mu[j] += saturate<S>(-w * scaled);
    d_gaussian.d_log_var[j] += saturate<S>(w * 0.5 * (1.0 - r * scaled));
  }
  return saturate<S>(loss);
}

template <class S>
S gaussian_bayes_kl(const Gaussian<S>& pre, const Gaussian<S>& post, const Observed<S>& observed,
                    S observation_std, S weight, const GaussianGradient<S>& d_pre,
                    const GaussianGradient<S>& d_post) {
  const double w = weight;
  const ObservationNoise noise(observation_std);
  double loss = 0;
  for (Index i = 0; i < observed.count; ++i) {
    const Index j = observed.feature[i];
    const GaussianKl kl = gaussian_bayes_kl(pre.mu[j], pre.log_var[j], post.mu[j], post.log_var[j],
                                            observed.value[i], noise);
    loss += kl.value;
    d_pre.d_mu[j] += saturate<S>(w * kl.d_mu_pre);
    d_pre.d_log_var[j] += saturate<S>(w * kl.d_log_var_pre);
    d_post.d_mu[j] += saturate<S>(w * kl.d_mu_post);
    d_post.d_log_var[j] += saturate<S>(w * kl.d_log_var_post);
  }
  return saturate<S>(loss);
}

#define EDICT_INSTANTIATE(S)                                                                      \
  template S gaussian_nll(const Gaussian<S>&, const Observed<S>&, S, const GaussianGradient<S>&); \
  template S gaussian_bayes_kl(const Gaussian<S>&, const Gaussian<S>&, const Observed<S>&, S, S,  \
                               const GaussianGradient<S>&, const GaussianGradient<S>&);
EDICT_INSTANTIATE(float)
EDICT_INSTANTIATE(double)
#undef EDICT_INSTANTIATE

}  // namespace edict
