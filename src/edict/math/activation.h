// Activations over contiguous arrays. Float runs through short polynomials, a vector register at a
// time (largest error measured in tests/math: 3e-7 absolute); double, used by the gradient checks,
// through the standard library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "edict/core/lanes.h"
#include "edict/core/types.h"

namespace edict {

using Floats = Lanes<float>::Vector;

// e^x without branches: x = n ln 2 + f, a polynomial for e^f, and n into the exponent.
inline Floats fast_exp(Floats x) {
  constexpr Floats kZero{};
  constexpr float kRound = 12582912.0f;  // 1.5·2²³: adding it rounds to a whole number
  x = x < -87.0f ? kZero - 87.0f : x;    // written so that NaN stays NaN
  x = x > 88.0f ? kZero + 88.0f : x;
  const Floats n = (x * 1.44269504f + kRound) - kRound;
  const Floats f = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  // Degree-6 Taylor form; |f| ≤ ln2/2 leaves a relative error of up to 1.7e-7 before rounding.
  Floats p = kZero + 1.0f / 720.0f;
  p = p * f + 1.0f / 120.0f;
  p = p * f + 1.0f / 24.0f;
  p = p * f + 1.0f / 6.0f;
  p = p * f + 0.5f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  const auto exponent = __builtin_convertvector(n, Lanes<std::int32_t>::Vector) + 127;
  return p * std::bit_cast<Floats>(exponent << 23);
}

inline Floats fast_sigmoid(Floats x) { return 1.0f / (1.0f + fast_exp(-x)); }
inline Floats fast_tanh(Floats x) { return 1.0f - 2.0f / (1.0f + fast_exp(2.0f * x)); }

// e^x of a register of either scalar.
inline Floats exp_lanes(Floats x) { return fast_exp(x); }
inline Lanes<double>::Vector exp_lanes(Lanes<double>::Vector x) {
  for (Index i = 0; i < Lanes<double>::kCount; ++i) x[i] = std::exp(x[i]);
  return x;
}

// x = f(x), the last few elements in a register of their own: an element's result does not depend
// on its place.
template <class Function>
void apply_inplace(float* x, Index n, Function f) {
  using L = Lanes<float>;
  Index i = 0;
  for (; i + L::kCount <= n; i += L::kCount) L::store(f(L::load(x + i)), x + i);
  if (i == n) return;
  float rest[L::kCount] = {};
  for (Index k = i; k < n; ++k) rest[k - i] = x[k];
  L::store(f(L::load(rest)), rest);
  for (Index k = i; k < n; ++k) x[k] = rest[k - i];
}

inline void exp_inplace(float* x, Index n) {
  apply_inplace(x, n, [](Floats v) { return fast_exp(v); });
}
inline void exp_inplace(double* x, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = std::exp(x[i]);
}

inline void sigmoid_inplace(float* x, Index n) {
  apply_inplace(x, n, [](Floats v) { return fast_sigmoid(v); });
}
inline void sigmoid_inplace(double* x, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = 1.0 / (1.0 + std::exp(-x[i]));
}

inline void tanh_inplace(float* x, Index n) {
  apply_inplace(x, n, [](Floats v) { return fast_tanh(v); });
}
inline void tanh_inplace(double* x, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = std::tanh(x[i]);
}

}  // namespace edict
