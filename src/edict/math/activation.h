// Activations over contiguous arrays. Float runs through short polynomials that the compiler
// vectorises; tests/math holds them to errors of 3e-7 (e^x within ±87, relative), 1.2e-7 (sigmoid)
// and 2.5e-7 (tanh, both absolute). Double, used by the gradient checks, goes through the standard
// library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "edict/core/types.h"

namespace edict {

// e^x for float, without branches: x = n ln 2 + f, a polynomial for e^f, and n into the exponent.
inline float fast_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float kRound = 12582912.0f;  // 1.5·2²³: adding it rounds to a whole number
  const float n = (x * 1.44269504f + kRound) - kRound;
  const float f = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  // Degree-6 Taylor form; |f| ≤ ln2/2 leaves a relative error of up to 1.7e-7 before rounding.
  float p = 1.0f / 720.0f;
  p = p * f + 1.0f / 120.0f;
  p = p * f + 1.0f / 24.0f;
  p = p * f + 1.0f / 6.0f;
  p = p * f + 0.5f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  const auto exponent = static_cast<std::int32_t>(n) + 127;
  return p * std::bit_cast<float>(exponent << 23);
}

inline float fast_sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }
inline double fast_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline float fast_tanh(float x) { return 1.0f - 2.0f / (1.0f + fast_exp(2.0f * x)); }
inline double fast_tanh(double x) { return std::tanh(x); }

template <class S>
void sigmoid_inplace(S* x, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = fast_sigmoid(x[i]);
}

template <class S>
void tanh_inplace(S* x, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = fast_tanh(x[i]);
}

}  // namespace edict
