// Special functions of a positive argument and the activations, with their derivatives.
// The gamma family shifts its argument up to kStirling by the recurrence Γ(x+1) = xΓ(x) and then
// sums the asymptotic (Stirling) series; the error is about 1e-15·max(1, |value|). A float argument
// is computed in double: the shift and the logarithm dominate the time in both.
#pragma once

#include <cmath>

namespace edict {

// 1/(1+e⁻ˣ), without overflow at either end.
template <class S>
S sigmoid(S x) {
  const S e = std::exp(-std::abs(x));
  return (x >= S(0) ? S(1) : e) / (S(1) + e);
}

// ln(1+eˣ); its derivative is sigmoid(x).
template <class S>
S softplus(S x) {
  return (x > S(0) ? x : S(0)) + std::log1p(std::exp(-std::abs(x)));
}

namespace special {

constexpr double kStirling = 10.0;  // the first dropped term of each series is below 1e-16 here

// Σ B₂ₖ / (2k(2k−1) x²ᵏ⁻¹): what lnΓ(x) adds to (x−½)ln x − x + ½ln 2π.
inline double lgamma_tail(double x) {
  const double y = 1.0 / (x * x);
  return (1.0 / 12 -
          y * (1.0 / 360 -
               y * (1.0 / 1260 -
                    y * (1.0 / 1680 -
                         y * (1.0 / 1188 -
                              y * (691.0 / 360360 - y * (1.0 / 156 - y * 3617.0 / 122400))))))) /
         x;
}

// x(x+1)…(x+n−1) with x+n ≥ kStirling; moves x to x+n.
inline double rise(double& x) {
  double product = 1.0;
  for (; x < kStirling; x += 1.0) product *= x;
  return product;
}

}  // namespace special

inline double log_gamma(double x) {
  const double product = special::rise(x);
  constexpr double half_log_2pi = 0.91893853320467274178;
  return (x - 0.5) * std::log(x) - x + half_log_2pi + special::lgamma_tail(x) - std::log(product);
}

// lnΓ(x+h) − lnΓ(x), for x > 0 and x+h > 0. Exact to rounding of the difference itself, where
// subtracting two values of lnΓ would lose them (x = 10⁶, h = 1: 13.8 from two values of 1.3·10⁷).
inline double log_gamma_ratio(double x, double h) {
  const double x_start = x;
  double y = x + h;
  const double y_start = y;
  const double product_x = special::rise(x), product_y = special::rise(y);
  h += (y - y_start) - (x - x_start);
  return (x - 0.5) * std::log1p(h / x) + h * (std::log(y) - 1.0) +
         (special::lgamma_tail(y) - special::lgamma_tail(x)) + std::log(product_x / product_y);
}

// ψ(x) = d lnΓ/dx. The sum Σ 1/(x+k) is kept as one fraction, for one division.
inline double digamma(double x) {
  double numerator = 0.0, denominator = 1.0;
  for (; x < special::kStirling; x += 1.0) {
    numerator = numerator * x + denominator;
    denominator *= x;
  }
  const double y = 1.0 / (x * x);
  const double tail =
      y *
      (1.0 / 12 -
       y * (1.0 / 120 -
            y * (1.0 / 252 -
                 y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 -
                                                        y * (1.0 / 12 - y * 3617.0 / 8160)))))));
  return std::log(x) - 0.5 / x - tail - numerator / denominator;
}

// ψ'(x).
inline double trigamma(double x) {
  double numerator = 0.0, denominator = 1.0;
  for (; x < special::kStirling; x += 1.0) {
    numerator = numerator * (x * x) + denominator;
    denominator *= x * x;
  }
  const double y = 1.0 / (x * x);
  const double tail =
      y * (1.0 / 6 -
           y * (1.0 / 30 -
                y * (1.0 / 42 -
                     y * (1.0 / 30 - y * (5.0 / 66 - y * (691.0 / 2730 -
                                                          y * (7.0 / 6 - y * 3617.0 / 510)))))));
  return (1.0 + 0.5 / x + tail) / x + numerator / denominator;
}

inline float log_gamma(float x) { return static_cast<float>(log_gamma(double{x})); }
inline float digamma(float x) { return static_cast<float>(digamma(double{x})); }
inline float trigamma(float x) { return static_cast<float>(trigamma(double{x})); }

}  // namespace edict
