// EDICT's head: four networks read h and give the Normal-Inverse-Wishart parameters. One column is
//
//   φ = [ μ0 (D) | log ψ (D) | λ = 1 + softplus | ν = D + 2 + softplus ]
//
// which keeps every moment used here finite (ν − D − 1 ≥ 1).
#pragma once

#include <cmath>

#include "engine/engine_settings.h"
#include "engine/heads/location_scale.h"
#include "engine/heads/marginal.h"
#include "evidential/losses.h"
#include "evidential/niw.h"
#include "math/special.h"
#include "nn/mlp_bank.h"

namespace edict {

class NiwHead : public LocationScale<NiwHead> {
 public:
  static constexpr const char* kKind = "edict";

  NiwHead(ParameterLayout& layout, const EngineSettings& model, const LossSettings& loss, Index in,
          Index features)
      : LocationScale(features),
        networks_(layout, "head", in, model.head_hidden,
                  {{"mu", features}, {"psi", features}, {"lambda", 1}, {"nu", 1}}),
        conjugate_(loss.kl_form == KlForm::niw),
        observation_std_(loss.kl_observation_std),
        epistemic_surprise_(model.surprise == SurpriseScale::epistemic) {}

  Index rows() const { return networks_.rows(); }
  Index stacked() const { return networks_.stacked(); }

  template <class S>
  void transpose(const S* params, S* transposed) const {
    networks_.transpose(params, transposed);
  }

  template <class S>
  void forward(Transposed<S> params, Index w, const S* h, S* a, S* phi) const {
    networks_.forward(params, w, h, a, phi);
    for (Index column = 0; column < w; ++column) {
      S* const p = phi + column * rows() + 2 * features_;
      p[0] = S(1) + softplus(p[0]);
      p[1] = static_cast<S>(features_ + 2) + softplus(p[1]);
    }
  }

  // d_phi is used up; d_h += ….
  template <class S>
  void backward(const S* params, Index w, const S* h, const S* a, const S* phi, S* d_phi, S* d_a,
                S* d_h, S* grads) const {
    for (Index column = 0; column < w; ++column) {
      const S* const p = phi + column * rows() + 2 * features_;
      S* const d = d_phi + column * rows() + 2 * features_;
      d[0] *= -std::expm1(S(1) - p[0]);  // softplus' = 1 − e^−softplus
      d[1] *= -std::expm1(static_cast<S>(features_ + 2) - p[1]);
    }
    networks_.backward(params, w, h, a, d_phi, d_a, d_h, grads);
  }

  template <class S>
  Niw<S> niw(const S* phi) const {
    return {phi, phi + features_, phi[2 * features_], phi[2 * features_ + 1], features_};
  }

  // The likelihood of what was seen before it is absorbed, and the penalty on mistaken evidence.
  template <class S>
  void score(const S* phi, const Observed<S>& seen, S weight, S evidence, S* d_phi,
             LossSums& sums) const {
    NiwGradient<S> d = gradient(d_phi);
    sums.nll += student_t_nll(niw(phi), seen, weight, d);
    if (evidence > S(0)) sums.evidence += evidence_penalty(niw(phi), seen, weight * evidence, d);
    add(d, d_phi);
  }

  // KL(Bayes(pre, x) ‖ post).
  template <class S>
  void kl(const S* pre, const S* post, const Observed<S>& seen, S weight, S* d_pre, S* d_post,
          LossSums& sums) const {
    NiwGradient<S> before = gradient(d_pre), after = gradient(d_post);
    sums.kl += conjugate_ ? niw_kl(niw(pre), niw(post), seen, weight, before, after)
                          : gaussian_kl(niw(pre), niw(post), seen, static_cast<S>(observation_std_),
                                        weight, before, after);
    add(before, d_pre);
    add(after, d_post);
  }

  template <class S>
  Marginal marginal(const S* phi, Index j) const {
    const Niw<S> p = niw(phi);
    return {static_cast<double>(p.mu[j]), static_cast<double>(p.aleatoric(j)),
            static_cast<double>(p.epistemic(j)), std::sqrt(static_cast<double>(p.scale2(j))),
            static_cast<double>(p.dof())};
  }

 private:
  friend class LocationScale<NiwHead>;

  // d: of ln σ_j.
  template <class S>
  void log_sigma_backward(const S* phi, Index j, S d, S* d_phi) const {
    const S lambda = phi[2 * features_];
    d_phi[features_ + j] += S(0.5) * d;
    d_phi[2 * features_] -= S(0.5) * d / (epistemic_surprise_ ? lambda : lambda * (lambda + S(1)));
    d_phi[2 * features_ + 1] -= S(0.5) * d / excess(phi);
  }

  template <class S>
  S excess(const S* phi) const {  // ν − D − 1
    return phi[2 * features_ + 1] - static_cast<S>(features_ + 1);
  }
  template <class S>
  S sigma(const S* phi, Index j) const {
    const S lambda = phi[2 * features_];
    const S share = epistemic_surprise_ ? S(1) / lambda : S(1) + S(1) / lambda;
    return std::exp(S(0.5) * phi[features_ + j]) * std::sqrt(share / excess(phi));
  }
  template <class S>
  NiwGradient<S> gradient(S* d_phi) const {
    return {d_phi, d_phi + features_, S(0), S(0)};
  }
  template <class S>
  void add(const NiwGradient<S>& d, S* d_phi) const {
    d_phi[2 * features_] += d.d_lambda;
    d_phi[2 * features_ + 1] += d.d_nu;
  }

  MlpBank networks_;
  bool conjugate_;
  double observation_std_;
  bool epistemic_surprise_;
};

}  // namespace edict
