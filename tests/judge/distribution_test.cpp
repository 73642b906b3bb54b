// What is told of a distribution, against numerical integration of its density and closed forms.
#include "ask/distribution.h"

#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>

#include "base/not_finite.h"

namespace edict {
namespace {

// The density is proportional to (1 + z²/ν)^(−(ν+1)/2), or to exp(−z²/2); integrated over all it is
// what makes it one.
double mass(double dof, double from, double to) {
  const auto kernel = [&](double z) {
    return std::isinf(dof) ? std::exp(-0.5 * z * z) : std::pow(1 + z * z / dof, -0.5 * (dof + 1));
  };
  return boost::math::quadrature::gauss_kronrod<double, 61>::integrate(kernel, from, to, 15, 1e-12);
}

TEST(Distribution, ProbabilitiesAndDensityEqualTheIntegral) {
  for (const double dof : {2.5, 4.0, 30.0, kInfinity}) {
    const Marginal m{3.0, 0, 0, 0.5, dof};
    const double all = mass(dof, -kInfinity, kInfinity);
    for (const double z : {-6.0, -1.0, -0.1, 0.0, 0.7, 2.0, 5.0}) {
      const double x = m.mean + z * m.scale;
      // The quadrature is good to about 1e-10.
      EXPECT_NEAR(probability_below(m, x), mass(dof, -kInfinity, z) / all, 1e-9);
      EXPECT_NEAR(probability_above(m, x), mass(dof, z, kInfinity) / all, 1e-9);
      EXPECT_NEAR(tail_probability(m, x), 2 * mass(dof, std::abs(z), kInfinity) / all, 1e-9);
      const double kernel =
          std::isinf(dof) ? -0.5 * z * z : -0.5 * (dof + 1) * std::log1p(z * z / dof);
      EXPECT_NEAR(log_density(m, x), kernel - std::log(all) - std::log(m.scale), 1e-9);
    }
  }
}

// 1 − F would be 0 from about 8 deviations on.
TEST(Distribution, FarTailsKeepTheirDigits) {
  const Marginal m{0, 1, 0, 1, kInfinity};
  EXPECT_NEAR(probability_above(m, 20) / 2.7536241186062337e-89, 1, 1e-9);
  EXPECT_EQ(probability_above(m, 20), probability_below(m, -20));
  EXPECT_NEAR(tail_probability(m, -20) / 5.5072482372124674e-89, 1, 1e-9);
}

// A distance whose square is no double counts as the farthest that has one.
TEST(Distribution, NoValueIsTooFarForAScore) {
  for (const double dof : {3.0, kInfinity}) {
    const Marginal m{0, 1, 0, 1e-3, dof};
    const double farthest = log_density(m, 1e147);
    EXPECT_TRUE(std::isfinite(farthest));
    EXPECT_LT(farthest, log_density(m, 1e140));
    EXPECT_EQ(log_density(m, 1e300), farthest);
    EXPECT_EQ(log_density(m, -std::numeric_limits<double>::max()), farthest);
    EXPECT_EQ(central_level(m, 1e300), 1.0);
    EXPECT_TRUE(std::isfinite(normal_score(m, 1e300)));
  }
}

TEST(Distribution, QuantilesInvertProbabilities) {
  for (const double dof : {2.5, 9.0, kInfinity})
    for (const double p : {0.001, 0.1, 0.5, 0.975}) {
      const Marginal m{-2, 0, 0, 3, dof};
      EXPECT_NEAR(probability_below(m, m.mean + m.scale * standard_quantile(p, dof)), p, 1e-12);
      EXPECT_NEAR(half_width(m, p), m.scale * standard_quantile(0.5 + 0.5 * p, dof), 1e-10);
    }
}

TEST(Distribution, DeviationsAreRootsOfVariancesAndInfiniteWhereThereIsNone) {
  const Marginal m{0, 9, 16, 4, 3};
  EXPECT_EQ(aleatoric_deviation(m), 3);
  EXPECT_EQ(epistemic_deviation(m), 4);
  EXPECT_EQ(predictive_deviation(m), 5);
  const Marginal heavy{0, 9, 16, 4, 2};
  EXPECT_EQ(predictive_deviation(heavy), kInfinity);
  EXPECT_EQ(aleatoric_deviation(heavy), kInfinity);
}

}  // namespace
}  // namespace edict
