#include "math/multivariate_gamma.h"

#include <gtest/gtest.h>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

namespace edict {
namespace {

TEST(MultivariateGamma, EqualsTheSumOverItsArguments) {
  for (const Index m : {1, 2, 3, 4, 5, 17, 50, 200})
    for (const double above : {0.25, 1.5, 30.0, 1e5}) {
      const double a = 0.5 * static_cast<double>(m - 1) + above;
      double lg = 0.25 * static_cast<double>(m * (m - 1)) * std::log(std::acos(-1.0));
      double psi = 0, tri = 0, size = 0;
      for (Index i = 0; i < m; ++i) {
        const double x = a - 0.5 * static_cast<double>(i);
        lg += boost::math::lgamma(x);
        psi += boost::math::digamma(x);
        tri += boost::math::trigamma(x);
        size += std::abs(boost::math::digamma(x));
      }
      EXPECT_NEAR(log_multivariate_gamma(a, m), lg, 1e-13 * (1 + std::abs(lg))) << m << " " << a;
      EXPECT_NEAR(multivariate_digamma(a, m), psi, 1e-13 * (1 + size)) << m << " " << a;
      EXPECT_NEAR(multivariate_trigamma(a, m), tri, 1e-13 * (1 + tri)) << m << " " << a;
    }
}

// Γ_2(a) = √π Γ(a) Γ(a−½) = 2^{2−2a} π Γ(2a−1) by the duplication formula.
TEST(MultivariateGamma, OfTwoByDuplication) {
  const double a = 3.7, pi = std::acos(-1.0);
  EXPECT_NEAR(log_multivariate_gamma(a, 2),
              (2 - 2 * a) * std::log(2.0) + std::log(pi) + boost::math::lgamma(2 * a - 1), 1e-13);
}

// The definition in 50 digits; near arguments at 10⁶ leave a gap of 1e-7 from terms of 10⁷.
TEST(MultivariateGammaGap, EqualsItsDefinitionInFiftyDigits) {
  using Real = boost::multiprecision::cpp_bin_float_50;
  for (const Index m : {1, 2, 5, 12})
    for (const double above : {1.5, 20.0, 5e5})
      for (const double delta : {-1.0, -0.5, 0.25, 0.5, 10.0, 1e3}) {
        const double a1 = 0.5 * static_cast<double>(m - 1) + above, a0 = a1 + delta;
        Real gap = 0, rise = 0;
        for (Index i = 0; i < m; ++i) {
          const Real half = Real(static_cast<double>(i)) / 2, x0 = a0 - half, x1 = a1 - half;
          const Real psi = boost::math::digamma(x1);
          gap += boost::math::lgamma(x0) - boost::math::lgamma(x1) - (x0 - x1) * psi;
          rise += boost::math::digamma(x0) - psi;
        }
        const double expected = static_cast<double>(gap), d_a0 = static_cast<double>(rise);
        const TangentGap actual = log_multivariate_gamma_gap(a0, a1, m);
        // Rounding is that of m terms δ·ln(a).
        const double rounding =
            1e-15 * static_cast<double>(m * m) * (1 + std::abs(delta)) * std::log(a1 + 2);
        EXPECT_NEAR(actual.value, expected, 1e-13 * expected + rounding) << m << " " << a0;
        EXPECT_NEAR(actual.d_a0, d_a0, 1e-13 * std::abs(d_a0) + rounding) << m << " " << a0;
        EXPECT_NEAR(actual.d_a1, -delta * multivariate_trigamma(a1, m),
                    1e-13 * std::abs(actual.d_a1));
      }
}

TEST(MultivariateGammaGap, IsZeroAtTheTangentPoint) {
  for (const Index m : {1, 2, 3, 100}) {
    const TangentGap gap = log_multivariate_gamma_gap(77.25, 77.25, m);
    EXPECT_EQ(gap.value, 0);
    EXPECT_EQ(gap.d_a0, 0);
    EXPECT_EQ(gap.d_a1, 0);
  }
}

}  // namespace
}  // namespace edict
