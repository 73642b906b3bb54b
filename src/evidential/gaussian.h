// Independent Gaussians, one a feature: what GRU-ODE-Bayes puts out, and what the moment-matched
// KL of the evidential model compares. Losses as in losses.h: the unweighted value is returned,
// weight × the gradient is added.
#pragma once

#include "evidential/observed.h"

namespace edict {

template <class S>
struct Gaussian {
  const S* mu;
  const S* log_var;
};

template <class S>
struct GaussianGradient {
  S* d_mu;
  S* d_log_var;
};

// Σ_O ½[ln 2π + ln σ² + (x−μ)²/σ²]
template <class S>
S gaussian_nll(const Gaussian<S>& gaussian, const Observed<S>& observed, S weight,
               const GaussianGradient<S>& d_gaussian);

// Σ_O KL(Bayes ‖ post), Bayes ∝ N(pre)·N(x, observation_std²); gradient into pre and post.
template <class S>
S gaussian_bayes_kl(const Gaussian<S>& pre, const Gaussian<S>& post, const Observed<S>& observed,
                    S observation_std, S weight, const GaussianGradient<S>& d_pre,
                    const GaussianGradient<S>& d_post);

// One feature of the KL above, with its gradient.
struct ObservationNoise {
  explicit ObservationNoise(double std);  // std > 0
  double var, log_var;
};
struct GaussianKl {
  double value;
  double d_mu_pre, d_log_var_pre;
  double d_mu_post, d_log_var_post;
};
GaussianKl gaussian_bayes_kl(double mu_pre, double log_var_pre, double mu_post, double log_var_post,
                             double x, const ObservationNoise& noise);

}  // namespace edict
