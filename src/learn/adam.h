// Adam (Kingma & Ba 2015) with decoupled weight decay, as one loop over the flat vector.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/types.h"

namespace edict {

class Adam {
 public:
  explicit Adam(Index size) : m(Vector<float>::Zero(size)), v(Vector<float>::Zero(size)) {}

  void step(const Vector<float>& grads, double rate, double weight_decay, Vector<float>& params) {
    ++steps;
    const auto t = static_cast<double>(steps);
    const auto step_size = static_cast<float>(rate / (1.0 - std::pow(kBeta1, t)));
    const auto v_scale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(kBeta2, t)));
    const auto keep = static_cast<float>(1.0 - rate * weight_decay);
    // 1 − β in double: in float 1 − 0.999 is wrong in its fifth digit.
    constexpr auto b1 = static_cast<float>(kBeta1), new1 = static_cast<float>(1.0 - kBeta1);
    constexpr auto b2 = static_cast<float>(kBeta2), new2 = static_cast<float>(1.0 - kBeta2);
    constexpr auto epsilon = static_cast<float>(kEpsilon);
    for (Index i = 0; i < params.size(); ++i) {
      const float g = grads[i];
      m[i] = b1 * m[i] + new1 * g;
      v[i] = b2 * v[i] + new2 * g * g;
      params[i] = keep * params[i] - step_size * m[i] / (std::sqrt(v[i]) * v_scale + epsilon);
    }
  }

  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

  Vector<float> m, v;
  std::int64_t steps = 0;
};

// Each entry into ±limit (0: off), then the whole to a norm (0: off).
inline void clip_gradient(double limit, double norm_limit, Vector<float>& grads) {
  if (limit > 0)
    grads = grads.cwiseMax(static_cast<float>(-limit)).cwiseMin(static_cast<float>(limit));
  if (norm_limit > 0) {
    const double norm = grads.cast<double>().norm();
    if (norm > norm_limit) grads *= static_cast<float>(norm_limit / norm);
  }
}

}  // namespace edict
