// Evidence that forgets (model.evidence = "forgetting"): λ, ν and ψ are no answer of the head but a
// part of the state, E = D + 2 numbers that an observation raises and time takes away:
//
//   s = [ p (D) | l | n ]     ψ_j = ψ0_j (1 − p_j)     λ = 1 + l     ν = D + 2 + n
//
// Between observations every s decays as s e^{−kΔ} (closed_form.h), so that ψ returns to the prior
// scale ψ0, and λ and ν to their least: each factor of the variance ψ (1 + 1/λ)/(ν − D − 1) grows,
// and every band widens. At an observation the head, reading the state after it, says how much is
// gained: p of an observed feature goes a share σ of its way to one, l and n rise by softplus. Its
// band narrows. Neither can be unlearned; how fast and how far is learned.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "math/special.h"
#include "nn/parameters.h"
#include "nn/product.h"

namespace edict {

class Forgetting {
 public:
  // The prior starts with the variance of standardised data: ψ0 (1 + 1/λ)/(ν − D − 1) = 1.
  Forgetting(ParameterLayout& layout, const std::string& name, Index features)
      : features_(features),
        prior_(layout.add(name + ".prior", {features}, Start::constant(std::log(0.5)))) {}

  static Index rows(Index features) { return features + 2; }

  Index log_prior() const { return prior_; }  // offset of ln ψ0

  // What the head said becomes the gain of `before`, E × w. `raw`: φ as the head gives it.
  // first[j] … first[j+1] are the observations of feature j, column[k] whose they are.
  template <class S>
  void gain(Index w, const Index* first, const Index* column, const S* raw, Index phi_rows,
            const S* before, S* after) const {
    const Index n = rows(features_);
    std::copy_n(before, n * w, after);
    for (Index j = 0; j < features_; ++j)
      for (Index k = first[j]; k < first[j + 1]; ++k) {
        S& p = after[column[k] * n + j];
        p += (static_cast<S>(kMost) - p) * share(raw[column[k] * phi_rows + features_ + j]);
      }
    for (Index i = 0; i < w; ++i) {
      const S* const evidence = raw + i * phi_rows + 2 * features_;
      after[i * n + features_] += evidence[0] - S(1);
      after[i * n + features_ + 1] += evidence[1] - static_cast<S>(features_ + 2);
    }
  }

  // d: of `after` on entry, of `before` on return; d_raw += ….
  template <class S>
  void gain_backward(Index w, const Index* first, const Index* column, const S* raw, Index phi_rows,
                     const S* before, S* d, S* d_raw) const {
    const Index n = rows(features_);
    for (Index i = 0; i < w; ++i) {
      d_raw[i * phi_rows + 2 * features_] += d[i * n + features_];
      d_raw[i * phi_rows + 2 * features_ + 1] += d[i * n + features_ + 1];
    }
    for (Index j = 0; j < features_; ++j)
      for (Index k = first[j]; k < first[j + 1]; ++k) {
        const Index at = column[k] * phi_rows + features_ + j;
        const S gained = share(raw[at]), way = static_cast<S>(kMost) - before[column[k] * n + j];
        S& d_p = d[column[k] * n + j];
        d_raw[at] += d_p * way * gained * (S(1) - gained);
        d_p *= S(1) - gained;
      }
  }

  // φ = [ μ of `raw` | ln ψ | λ | ν ].
  template <class S>
  void forward(Transposed<S> params, Index w, const S* raw, const S* evidence, Index phi_rows,
               S* phi) const {
    const S* const prior = params.values + prior_;
    for (Index i = 0; i < w; ++i, raw += phi_rows, phi += phi_rows, evidence += rows(features_)) {
      std::copy_n(raw, features_, phi);
      for (Index j = 0; j < features_; ++j)
        phi[features_ + j] = prior[j] + std::log1p(-evidence[j]);
      phi[2 * features_] = S(1) + evidence[features_];
      phi[2 * features_ + 1] = static_cast<S>(features_ + 2) + evidence[features_ + 1];
    }
  }

  // d_φ: of φ on entry, of `raw` on return; d_evidence += ….
  template <class S>
  void backward(Index w, const S* evidence, Index phi_rows, S* d_phi, S* d_evidence,
                S* grads) const {
    const Index n = rows(features_);
    for (Index i = 0; i < w; ++i, d_phi += phi_rows, evidence += n, d_evidence += n) {
      for (Index j = 0; j < features_; ++j) {
        const S d = d_phi[features_ + j];
        grads[prior_ + j] += d;
        d_evidence[j] -= d / (S(1) - evidence[j]);
        d_phi[features_ + j] = S(0);
      }
      for (const Index scalar : {Index{0}, Index{1}}) {
        d_evidence[features_ + scalar] += d_phi[2 * features_ + scalar];
        d_phi[2 * features_ + scalar] = S(0);
      }
    }
  }

 private:
  // ψ never vanishes: it falls to this below one of the prior's at most.
  static constexpr double kMost = 1.0 - 1e-4;

  // Of the way to kMost. A network that knows nothing yet says 0: it should gain a little only, as
  // observations that come faster than they are forgotten would otherwise leave no band at all.
  template <class S>
  static S share(S raw) {
    constexpr auto kReserve = S(3);
    return sigmoid(raw - kReserve);
  }

  Index features_;
  Index prior_;
};

}  // namespace edict
