#include "math/student_t.h"

#include <gtest/gtest.h>

#include <boost/math/quadrature/exp_sinh.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "base/generator.h"

namespace edict {
namespace {

// Printed tables: t₀.₉₇₅ for 1, 5 and 30 degrees of freedom, and the normal's.
TEST(Quantile, EqualsThePrintedTables) {
  EXPECT_NEAR(student_t_half_width(0.95, 1), 12.7062, 5e-5);
  EXPECT_NEAR(student_t_half_width(0.95, 5), 2.570582, 5e-7);
  EXPECT_NEAR(student_t_half_width(0.95, 30), 2.042272, 5e-7);
  EXPECT_NEAR(normal_half_width(0.95), 1.959963985, 5e-10);
  EXPECT_NEAR(student_t_quantile(0.975, 5), 2.570582, 5e-7);
  EXPECT_NEAR(normal_quantile(0.025), -1.959963985, 5e-10);
  EXPECT_NEAR(normal_cdf(1.0), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(student_t_cdf(1.0, 1), 0.75, 1e-15);  // Cauchy
}

TEST(Quantile, CentralIntervalsInvertTheLevel) {
  for (const double dof : {1.0, 1.7, 3.0, 12.5, 400.0, 1e6})
    for (const double level : {0.0, 0.05, 0.5, 0.9, 0.999}) {
      const double width = student_t_half_width(level, dof);
      EXPECT_NEAR(student_t_central_level(width, dof), level, 1e-12);
      EXPECT_NEAR(student_t_central_level(-width, dof), level, 1e-12);
      EXPECT_NEAR(student_t_cdf(width, dof) - student_t_cdf(-width, dof), level, 1e-12);
      EXPECT_NEAR(normal_central_level(normal_half_width(level)), level, 1e-12);
    }
  EXPECT_NEAR(student_t_half_width(0.9, 1e9), normal_half_width(0.9), 1e-8);
}

TEST(Quantile, RefusesWhatHasNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(student_t_half_width(1.0, 3), Error);
  EXPECT_THROW(student_t_half_width(-0.1, 3), Error);
  EXPECT_THROW(student_t_half_width(nan, 3), Error);
  EXPECT_THROW(student_t_half_width(0.5, 0), Error);
  EXPECT_THROW(student_t_quantile(0, 3), Error);
  EXPECT_THROW(student_t_cdf(0, nan), Error);
  EXPECT_THROW(normal_quantile(1), Error);
  EXPECT_THROW(student_t_crps(0, 0, 1, 1), Error);  // the mean must exist
}

TEST(NormalScore, KeepsTheProbabilityInEitherTail) {
  for (const double dof : {1.0, 2.2, 5.0, 300.0})
    for (const double z : {-1e6, -30.0, -1.3, -1e-3, 0.0, 0.4, 7.0, 1e5}) {
      const double score = student_t_normal_score(z, dof);
      EXPECT_EQ(student_t_normal_score(-z, dof), -score);
      if (std::abs(score) == 37.0) continue;  // 300 degrees of freedom end before 10⁵
      const double below = normal_cdf(-std::abs(score));
      EXPECT_NEAR(below / student_t_cdf(-std::abs(z), dof), 1, 1e-11) << dof << " " << z;
      EXPECT_NEAR(student_t_at_normal_score(score, dof), z, 1e-9 * (1e-3 + std::abs(z)));
    }
}

TEST(NormalScore, EndsWhereNormalTailsDo) {
  EXPECT_EQ(student_t_normal_score(1e5, 300), 37.0);
  EXPECT_EQ(student_t_normal_score(-std::numeric_limits<double>::infinity(), 3), -37.0);
  EXPECT_EQ(student_t_at_normal_score(50, 3), student_t_at_normal_score(37, 3));
  EXPECT_TRUE(std::isfinite(student_t_at_normal_score(-50, 2.2)));
}

// The definition: ∫ (F(y) − 1{y ≥ x})² dy, from x to either end.
template <class Cdf>
double crps_by_integration(double x, Cdf cdf) {
  boost::math::quadrature::exp_sinh<double> integrator;
  const double infinity = std::numeric_limits<double>::infinity();
  const auto below = [&](double y) { return std::pow(cdf(x - y), 2); };
  const auto above = [&](double y) { return std::pow(1 - cdf(x + y), 2); };
  return integrator.integrate(below, 0.0, infinity) + integrator.integrate(above, 0.0, infinity);
}

TEST(Crps, EqualsItsDefinition) {
  for (const double x : {-3.0, 0.4, 1.0, 6.0}) {
    for (const double dof : {2.5, 4.0, 11.3, 200.0}) {
      const double exact =
          crps_by_integration(x, [&](double y) { return student_t_cdf((y - 1.0) / 0.7, dof); });
      EXPECT_NEAR(student_t_crps(x, 1.0, 0.7, dof), exact, 1e-6 * exact) << x << " " << dof;
    }
    const double exact =
        crps_by_integration(x, [&](double y) { return normal_cdf((y - 1.0) / 0.7); });
    EXPECT_NEAR(normal_crps(x, 1.0, 0.7), exact, 1e-6 * exact) << x;
  }
}

// CRPS = E|X−x| − ½E|X−X'|, with t of 5 degrees as Z·√(5/χ²₅); four standard errors.
TEST(Crps, EqualsTheExpectedDistances) {
  Generator rng(50);
  const auto draw = [&] {
    double chi2 = 0;
    for (int i = 0; i < 5; ++i) chi2 += std::pow(rng.normal(), 2);
    return 2.0 + 0.5 * rng.normal() * std::sqrt(5 / chi2);
  };
  const int n = 200000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double a = draw(), b = draw();
    const double score = 0.5 * (std::abs(a - 1.4) + std::abs(b - 1.4)) - 0.5 * std::abs(a - b);
    sum += score, squares += score * score;
  }
  const double estimate = sum / n, error = std::sqrt((squares / n - estimate * estimate) / n);
  EXPECT_LT(error, 0.01 * estimate);
  EXPECT_NEAR(student_t_crps(1.4, 2.0, 0.5, 5), estimate, 4 * error);
}

TEST(Crps, OfManyDegreesIsTheGaussian) {
  for (const double x : {-2.0, 0.0, 0.3, 5.0})
    EXPECT_NEAR(student_t_crps(x, 0.1, 2.0, 1e7), normal_crps(x, 0.1, 2.0), 1e-6);
  // At the centre: σ(√2 − 1)/√π.
  EXPECT_NEAR(normal_crps(0, 0, 1), (std::numbers::sqrt2 - 1) * std::numbers::inv_sqrtpi, 1e-15);
}

}  // namespace
}  // namespace edict
