// The head of GRU-ODE-Bayes (De Brouwer et al. 2019): one network reads h and gives an independent
// Gaussian a feature. One column is
//
//   φ = [ μ (D) | log σ² (D) ]
//
// Everything it is unsure of is noise of the observation: it has no epistemic part.
#pragma once

#include <cmath>
#include <limits>

#include "engine/engine_settings.h"
#include "engine/heads/location_scale.h"
#include "engine/heads/marginal.h"
#include "evidential/gaussian.h"
#include "nn/mlp_bank.h"

namespace edict {

class GaussianHead : public LocationScale<GaussianHead> {
 public:
  static constexpr const char* kKind = "gru-ode-bayes";

  GaussianHead(ParameterLayout& layout, const EngineSettings& model, const LossSettings& loss,
               Index in, Index features)
      : LocationScale(features),
        network_(layout, "head", in, model.head_hidden, {{"moments", 2 * features}}),
        observation_std_(loss.kl_observation_std) {}

  Index rows() const { return network_.rows(); }
  Index stacked() const { return network_.stacked(); }

  template <class S>
  void transpose(const S* params, S* transposed) const {
    network_.transpose(params, transposed);
  }

  template <class S>
  void forward(Transposed<S> params, Index w, const S* h, S* a, S* phi) const {
    network_.forward(params, w, h, a, phi);
  }

  // d_h += ….
  template <class S>
  void backward(const S* params, Index w, const S* h, const S* a, const S* /*phi*/, S* d_phi,
                S* d_a, S* d_h, S* grads) const {
    network_.backward(params, w, h, a, d_phi, d_a, d_h, grads);
  }

  // The likelihood of what was seen before it is absorbed. There is no evidence to penalise.
  template <class S>
  void score(const S* phi, const Observed<S>& seen, S weight, S /*evidence*/, S* d_phi,
             LossSums& sums) const {
    sums.nll += gaussian_nll(gaussian(phi), seen, weight, gradient(d_phi));
  }

  // KL(Bayes(pre, x) ‖ post).
  template <class S>
  void kl(const S* pre, const S* post, const Observed<S>& seen, S weight, S* d_pre, S* d_post,
          LossSums& sums) const {
    sums.kl +=
        gaussian_bayes_kl(gaussian(pre), gaussian(post), seen, static_cast<S>(observation_std_),
                          weight, gradient(d_pre), gradient(d_post));
  }

  template <class S>
  Marginal marginal(const S* phi, Index j) const {
    const double variance = std::exp(static_cast<double>(phi[features_ + j]));
    return {static_cast<double>(phi[j]), variance, 0.0, std::sqrt(variance),
            std::numeric_limits<double>::infinity()};
  }

 private:
  friend class LocationScale<GaussianHead>;

  // d: of ln σ_j.
  template <class S>
  void log_sigma_backward(const S* /*phi*/, Index j, S d, S* d_phi) const {
    d_phi[features_ + j] += S(0.5) * d;
  }

  template <class S>
  S sigma(const S* phi, Index j) const {
    return std::exp(S(0.5) * phi[features_ + j]);
  }
  template <class S>
  Gaussian<S> gaussian(const S* phi) const {
    return {phi, phi + features_};
  }
  template <class S>
  GaussianGradient<S> gradient(S* d_phi) const {
    return {d_phi, d_phi + features_};
  }

  MlpBank network_;
  double observation_std_;
};

}  // namespace edict
