// What the heads share whose φ begins with [ μ (D) | log scale² (D) ]: what the encoder is told of
// an observation, and how the scale of a feature is multiplied.
#pragma once

#include <cmath>

#include "edict/nn/feature_encoder.h"

namespace edict {

// H tells sigma(φ, j), the deviation that an error counts in; surprise_backward, the gradient of
// that error; and log_scale_bias(), the offset of what is added to log scale².
template <class H>
class LocationScale {
 public:
  // v = [x, μ, log scale², e].
  template <class S>
  void encoder_inputs(const S* phi, Index j, S x, S* v) const {
    v[0] = x;
    v[1] = phi[j];
    v[2] = phi[features_ + j];
    v[3] = (x - phi[j]) / head().sigma(phi, j);  // e, how far it is from what was expected
  }

  template <class S>
  void encoder_inputs_backward(const S* phi, Index j, const S* v, const S* d_v, S* d_phi) const {
    d_phi[j] += d_v[1];
    d_phi[features_ + j] += d_v[2];
    head().surprise_backward(phi, j, v[3], d_v[3], d_phi);
  }

  // Multiplies the predictive scale of feature j wherever it is asked for. States and means stay:
  // what the encoder reads of the scale is undone in its weights.
  template <class S>
  void rescale(Index j, double factor, const FeatureEncoder& encoder, S* params) const {
    const auto shift = static_cast<S>(2.0 * std::log(factor));
    params[head().log_scale_bias() + j] += shift;
    encoder.compensate(j, 2, S(1), shift, params);
    encoder.compensate(j, 3, static_cast<S>(1.0 / factor), S(0), params);
  }

  template <class S>
  S mean(const S* phi, Index j) const {
    return phi[j];
  }

 protected:
  explicit LocationScale(Index features) : features_(features) {}

  Index features_;

 private:
  const H& head() const { return static_cast<const H&>(*this); }
};

}  // namespace edict
