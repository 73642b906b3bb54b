#include "math/multivariate_gamma.h"

#include <cmath>
#include <numbers>

#include "math/special.h"

namespace edict {
namespace {

// Arguments run upwards from the smallest, b = a − (m−1)/2, as b + i/2. With f(x+1) = f(x) + g(x),
//   Σ_{i<m} f(b + i/2) = ⌈m/2⌉ f(b) + ⌊m/2⌋ f(b+½) + Σ_i later(i) g(b + i/2),
// where later(i) counts the arguments above b + i/2 by a whole number.
double smallest(double a, Index m) { return a - 0.5 * static_cast<double>(m - 1); }
double later(Index i, Index m) {
  const Index count = (m - 1 - i) / 2;
  return static_cast<double>(count);
}

template <class Function, class Step>
double sum_over_half_steps(double a, Index m, Function f, Step g) {
  const double b = smallest(a, m);
  const Index whole = (m + 1) / 2, half = m / 2;
  double sum = static_cast<double>(whole) * f(b);
  if (m > 1) sum += static_cast<double>(half) * f(b + 0.5);
  for (Index i = 0; i + 2 < m; ++i) sum += later(i, m) * g(b + 0.5 * static_cast<double>(i));
  return sum;
}

}  // namespace

double log_multivariate_gamma(double a, Index m) {
  const double terms = static_cast<double>(m);
  return 0.25 * terms * (terms - 1.0) * std::log(std::numbers::pi) +
         sum_over_half_steps(
             a, m, [](double x) { return log_gamma(x); }, [](double x) { return std::log(x); });
}

double multivariate_digamma(double a, Index m) {
  return sum_over_half_steps(
      a, m, [](double x) { return digamma(x); }, [](double x) { return 1.0 / x; });
}

double multivariate_trigamma(double a, Index m) {
  return sum_over_half_steps(
      a, m, [](double x) { return trigamma(x); }, [](double x) { return -1.0 / (x * x); });
}

TangentGap log_multivariate_gamma_gap(double a0, double a1, Index m) {
  const double delta = a0 - a1;
  double b = smallest(a1, m);
  double gap = 0, digamma_rise = 0, trigamma_sum = 0;
  const auto add_first = [&](double x, Index count) {
    const double n = static_cast<double>(count), psi = digamma(x);
    gap += n * (log_gamma_ratio(x, delta) - delta * psi);
    digamma_rise += n * (digamma(x + delta) - psi);
    trigamma_sum += n * trigamma(x);
  };
  add_first(b, (m + 1) / 2);
  if (m > 1) add_first(b + 0.5, m / 2);
  for (Index i = 0; i + 2 < m; ++i, b += 0.5) {
    const double n = later(i, m), inverse = 1.0 / b, t = delta * inverse;
    gap += n * (std::log1p(t) - t);
    digamma_rise -= n * t / (b + delta);
    trigamma_sum -= n * inverse * inverse;
  }
  return {gap, digamma_rise, -delta * trigamma_sum};
}

}  // namespace edict
