// Activations over contiguous arrays. Float runs through short polynomials, a vector register at a
// time (largest error measured in tests/math: 3e-7 absolute); double, used by the gradient checks,
// through the standard library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/lanes.h"
#include "base/types.h"

namespace edict {

using Floats = Lanes<float>::Vector;
using Doubles = Lanes<double>::Vector;

// e^x = 2^n 2^f without branches: n = x log2 e rounded, a polynomial for 2^f, and n into the
// exponent.
[[gnu::always_inline]] inline Floats fast_exp(Floats x) {
  using Integers = Lanes<std::int32_t>::Vector;
  constexpr Floats kZero{};
  constexpr float kLog2E = 1.44269504f;
  constexpr float kRound = 12582912.0f;  // 1.5·2²³: adding it rounds to a whole number
  x = x < -87.0f ? kZero - 87.0f : x;    // written so that NaN stays NaN
  x = x > 88.0f ? kZero + 88.0f : x;
  const Floats shifted = x * kLog2E + kRound;  // n stands in its low bits
  const Floats f = x * kLog2E - (shifted - kRound);
  // The best polynomial of degree 5 on |f| ≤ 1/2: relative error 9.2e-8 before rounding.
  Floats p = kZero + 1.326472731e-3f;
  p = p * f + 9.671512991e-3f;
  p = p * f + 5.550733581e-2f;
  p = p * f + 2.402224243e-1f;
  p = p * f + 6.931470037e-1f;
  p = p * f + 1.0f;
  return std::bit_cast<Floats>(std::bit_cast<Integers>(p) +
                               (std::bit_cast<Integers>(shifted) << 23));
}

// Of a register of either scalar.
[[gnu::always_inline]] inline Floats exp_lanes(Floats x) { return fast_exp(x); }
[[gnu::always_inline]] inline Doubles exp_lanes(Doubles x) {
  for (Index i = 0; i < Lanes<double>::kCount; ++i) x[i] = std::exp(x[i]);
  return x;
}
[[gnu::always_inline]] inline Floats sigmoid_lanes(Floats x) {
  return 1.0f / (1.0f + fast_exp(-x));
}
[[gnu::always_inline]] inline Doubles sigmoid_lanes(Doubles x) {
  return 1.0 / (1.0 + exp_lanes(-x));
}
[[gnu::always_inline]] inline Floats tanh_lanes(Floats x) {
  return 1.0f - 2.0f / (1.0f + fast_exp(2.0f * x));
}
[[gnu::always_inline]] inline Doubles tanh_lanes(Doubles x) {
  for (Index i = 0; i < Lanes<double>::kCount; ++i) x[i] = std::tanh(x[i]);
  return x;
}

// x = f(x); an element's result does not depend on its place.
template <class S, class Function>
void apply_inplace(S* x, Index n, Function f) {
  sweep<S>(n, [=](auto lanes, Index i) {
    return [=, y = f(lanes.load(x + i))] { lanes.store(y, x + i); };
  });
}

template <class S>
void exp_inplace(S* x, Index n) {
  apply_inplace(x, n, [](auto v) { return exp_lanes(v); });
}
template <class S>
void sigmoid_inplace(S* x, Index n) {
  apply_inplace(x, n, [](auto v) { return sigmoid_lanes(v); });
}
template <class S>
void tanh_inplace(S* x, Index n) {
  apply_inplace(x, n, [](auto v) { return tanh_lanes(v); });
}

}  // namespace edict
