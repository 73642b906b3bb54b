#include "math/special.h"

#include <gtest/gtest.h>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace edict {
namespace {

// 3,000 points, evenly in ln x, over [1e-3, 1e6].
std::vector<double> arguments() {
  std::vector<double> x;
  for (int i = 0; i <= 3000; ++i) x.push_back(1e-3 * std::pow(1e9, i / 3000.0));
  return x;
}

double error_scale(double value) { return std::max(1.0, std::abs(value)); }

TEST(Gamma, FamilyEqualsBoost) {
  for (const double x : arguments()) {
    const double lg = boost::math::lgamma(x), psi = boost::math::digamma(x);
    const double tri = boost::math::trigamma(x);
    EXPECT_NEAR(log_gamma(x), lg, 1e-14 * error_scale(lg)) << x;
    EXPECT_NEAR(digamma(x), psi, 1e-14 * error_scale(psi)) << x;
    EXPECT_NEAR(trigamma(x), tri, 1e-14 * tri) << x;
  }
}

TEST(Gamma, FamilyInFloat) {
  for (const double wide : arguments()) {
    const float x = static_cast<float>(wide);
    const double lg = boost::math::lgamma(double{x}), psi = boost::math::digamma(double{x});
    const double tri = boost::math::trigamma(double{x});
    EXPECT_NEAR(log_gamma(x), lg, 1e-6 * error_scale(lg)) << x;
    EXPECT_NEAR(digamma(x), psi, 1e-6 * error_scale(psi)) << x;
    EXPECT_NEAR(trigamma(x), tri, 1e-6 * tri) << x;
  }
}

TEST(Gamma, KnownValues) {
  EXPECT_NEAR(log_gamma(1.0), 0, 1e-14);
  EXPECT_NEAR(log_gamma(0.5), 0.57236494292470008707, 1e-14);  // ½ ln π
  EXPECT_NEAR(digamma(1.0), -0.57721566490153286061, 1e-14);   // −γ
  EXPECT_NEAR(trigamma(1.0), 1.64493406684822643647, 1e-14);   // π²/6
}

// long double has 64 bits: the subtraction of two lnΓ near 10⁷ leaves it 1e-12.
TEST(Gamma, RatioKeepsItsDigits) {
  for (const double x : arguments())
    for (const double h : {-0.5 * x, 0.0, 1e-3, 0.5, 1.0, 7.5, 400.0}) {
      const long double exact = boost::math::lgamma(static_cast<long double>(x + h)) -
                                boost::math::lgamma(static_cast<long double>(x));
      const double true_h = (x + h) - x;  // x + h as rounded
      const double expected = static_cast<double>(exact);
      EXPECT_NEAR(log_gamma_ratio(x, true_h), expected, 1e-14 * std::abs(expected) + 4e-12)
          << x << " " << h;
    }
  // Γ(x+1)/Γ(x) = x
  EXPECT_DOUBLE_EQ(log_gamma_ratio(1e6, 1.0), std::log(1e6));
  EXPECT_DOUBLE_EQ(log_gamma_ratio(1e12, 1.0), std::log(1e12));
}

template <class S>
class Activation : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Activation, Scalars);

TYPED_TEST(Activation, IsStableAtBothEnds) {
  using S = TypeParam;
  const S eps = 4 * std::numeric_limits<S>::epsilon();
  EXPECT_EQ(softplus(S(1e4)), S(1e4));
  EXPECT_EQ(softplus(S(-1e4)), S(0));
  EXPECT_EQ(sigmoid(S(1e4)), S(1));
  EXPECT_EQ(sigmoid(S(-1e4)), S(0));
  EXPECT_NEAR(softplus(S(-20)) / std::exp(S(-20)), 1, 1e-8 + eps);
  EXPECT_NEAR(softplus(S(0)), std::log(S(2)), eps);
  EXPECT_EQ(sigmoid(S(0)), S(0.5));
  for (S x = -30; x <= 30; x += S(0.37)) {
    const S plain = S(1 / (1 + std::exp(-double(x))));
    EXPECT_NEAR(sigmoid(x) / plain, 1, eps);
    EXPECT_NEAR(softplus(x) - softplus(-x), x, 30 * eps);
  }
}

TEST(Softplus, DerivativeIsTheSigmoid) {
  for (double x = -30; x <= 30; x += 0.37) {
    const double h = 1e-5;
    EXPECT_NEAR((softplus(x + h) - softplus(x - h)) / (2 * h), sigmoid(x), 1e-9);
  }
}

}  // namespace
}  // namespace edict
