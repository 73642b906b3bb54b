// What the heads share whose φ begins with [ μ (D) | log scale² (D) ]: what the encoder reads of an
// observation.
#pragma once

#include <cmath>

#include "engine/jump/absorb.h"
#include "nn/feature_encoder.h"

namespace edict {

// H tells sigma(φ, j), the deviation that an error counts in, and log_sigma_backward, the gradient
// of its logarithm.
template <class H>
class LocationScale {
 public:
  // v = [x, μ, log scale², e] with e = (x − μ)/σ, how far it is from what was expected.
  template <class S>
  void encoder_inputs(const S* phi, Index j, S x, S* v) const {
    v[0] = x;
    v[1] = phi[j];
    v[2] = phi[features_ + j];
    v[3] = (x - phi[j]) / head().sigma(phi, j);
  }

  template <class S>
  void encoder_inputs_backward(const S* phi, Index j, const S* v, const S* d_v, S* d_phi) const {
    d_phi[j] += d_v[1];
    d_phi[features_ + j] += d_v[2];
    surprise_backward(phi, j, v[3], d_v[3], d_phi);
  }

  // The same of an observation of which only ψ(e) is absorbed: x is μ + σ ψ(e), which is returned.
  template <class S>
  S bounded_inputs(const S* phi, Index j, S x, const Absorb& absorb, S* v, S& e) const {
    const S sigma = head().sigma(phi, j);
    e = (x - phi[j]) / sigma;
    v[1] = phi[j];
    v[2] = phi[features_ + j];
    v[3] = absorb(e);
    return v[0] = phi[j] + sigma * v[3];
  }

  template <class S>
  void bounded_inputs_backward(const S* phi, Index j, S e, const Absorb& absorb, const S* v,
                               const S* d_v, S* d_phi) const {
    const S d_error = d_v[0] * head().sigma(phi, j);
    d_phi[j] += d_v[0] + d_v[1];  // x = μ + σ ψ(e)
    d_phi[features_ + j] += d_v[2];
    head().log_sigma_backward(phi, j, d_error * v[3], d_phi);
    surprise_backward(phi, j, e, (d_error + d_v[3]) * absorb.slope(e), d_phi);
  }

  template <class S>
  S mean(const S* phi, Index j) const {
    return phi[j];
  }

 protected:
  explicit LocationScale(Index features) : features_(features) {}

  Index features_;

 private:
  // Of e = (x − μ_j)/σ_j.
  template <class S>
  void surprise_backward(const S* phi, Index j, S e, S d_e, S* d_phi) const {
    d_phi[j] -= d_e / head().sigma(phi, j);
    head().log_sigma_backward(phi, j, -d_e * e, d_phi);
  }

  const H& head() const { return static_cast<const H&>(*this); }
};

}  // namespace edict
