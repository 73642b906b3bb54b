// Sine and cosine of an angle in turns (1 is a full circle), a register at a time. In turns the
// angle loses its whole circles without error, so that any angle gives a point on the circle, where
// radians would need ever longer constants. Float runs through polynomials (largest error measured
// in tests/math: 2e-7 absolute), double through the standard library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/lanes.h"

namespace edict {

template <class S>
struct Rotation {
  typename Lanes<S>::Vector sine, cosine;
};

[[gnu::always_inline]] inline Rotation<float> rotation_lanes(Lanes<float>::Vector turns) {
  using Register = Lanes<float>::Vector;
  using Integers = Lanes<std::int32_t>::Vector;
  constexpr Register kZero{};
  constexpr float kRound = 12582912.0f;  // 1.5·2²³: adding it rounds to a whole number
  constexpr float kMost = 4194304.0f;    // 2²²: beyond, a float hardly has a fraction
  Register quarters = 4.0f * turns;
  quarters = quarters < -kMost ? kZero - kMost : quarters;  // written so that NaN stays NaN
  quarters = quarters > kMost ? kZero + kMost : quarters;
  const Register shifted = quarters + kRound;  // the quadrant stands in its low bits
  const Register y = quarters - (shifted - kRound), y2 = y * y;
  // sin(πy/2) and cos(πy/2) on |y| ≤ 1/2, through Chebyshev points; exact at 0.
  Register sine = kZero - 4.621966732e-3f;
  sine = sine * y2 + 7.968703122e-2f;
  sine = sine * y2 - 6.459640198e-1f;
  sine = (sine * y2 + 1.570796327f) * y;
  Register cosine = kZero + 9.067398995e-4f;
  cosine = cosine * y2 - 2.086152834e-2f;
  cosine = cosine * y2 + 2.536694104e-1f;
  cosine = cosine * y2 - 1.233700549f;
  cosine = cosine * y2 + 1.0f;
  const Integers quadrant = std::bit_cast<Integers>(shifted);
  const Register s = (quadrant & 1) != 0 ? cosine : sine, c = (quadrant & 1) != 0 ? sine : cosine;
  return {(quadrant & 2) != 0 ? -s : s, ((quadrant + 1) & 2) != 0 ? -c : c};
}

[[gnu::always_inline]] inline Rotation<double> rotation_lanes(Lanes<double>::Vector turns) {
  Rotation<double> result{};
  for (Index i = 0; i < Lanes<double>::kCount; ++i) {
    const double angle = 2 * std::numbers::pi * (turns[i] - std::nearbyint(turns[i]));
    result.sine[i] = std::sin(angle);
    result.cosine[i] = std::cos(angle);
  }
  return result;
}

}  // namespace edict
