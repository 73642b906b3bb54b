// How much of an observation enters h(t), as model.absorb chooses: all of it, or what a smooth
// bounded ψ leaves of its error z = (x − μ)/σ, in training and in use alike. What the encoder and
// the memory then see is μ + σ ψ(z); the value itself goes nowhere but into the loss.
//
//   bounded   ψ(z) = b tanh(z/b): small errors pass, none counts for more than b deviations
//   score     ψ(z) = (b+1) z / (b + z²), the score of a Student-t with b degrees of freedom: what
//   is
//             far off counts for less and less
#pragma once

#include <cmath>

#include "engine/engine_settings.h"

namespace edict {

class Absorb {
 public:
  Absorb(Absorption kind, double bound) : kind_(kind), bound_(bound) {}

  bool raw() const { return kind_ == Absorption::raw; }

  template <class S>
  S operator()(S z) const {
    const auto b = static_cast<S>(bound_);
    z = near(z);
    return kind_ == Absorption::bounded ? b * std::tanh(z / b) : (b + S(1)) * z / (b + z * z);
  }

  // dψ/dz.
  template <class S>
  S slope(S z) const {
    const auto b = static_cast<S>(bound_);
    z = near(z);
    if (kind_ == Absorption::bounded) {
      const S t = std::tanh(z / b);
      return S(1) - t * t;
    }
    const S all = b + z * z;
    return (b + S(1)) * ((b - z * z) / all) / all;
  }

 private:
  // Its square stays a float; farther off makes no difference. NaN stays NaN.
  template <class S>
  static S near(S z) {
    constexpr auto kFar = S(1e15);
    return z > kFar ? kFar : z < -kFar ? -kFar : z;
  }

  Absorption kind_;
  double bound_;
};

}  // namespace edict
