#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/sinh_sinh.hpp>
#include <cmath>
#include <numbers>

#include "evidential/event.h"

namespace edict {
namespace {

double nll(const Event<double>& event) {
  return evaluate(all_losses<double>().at("student_t_nll"), event);
}

TEST(Niw, VariancesOfAKnownCase) {
  Parameters<double> p(2);
  p.lambda = 4, p.nu = 8;  // ν − D − 1 = 5, d = 7
  p.log_psi = {0.0, std::log(10.0)};
  const auto niw = p.niw();
  EXPECT_DOUBLE_EQ(niw.dof(), 7);
  EXPECT_DOUBLE_EQ(niw.aleatoric(1), 2);
  EXPECT_DOUBLE_EQ(niw.epistemic(1), 0.5);
  EXPECT_DOUBLE_EQ(niw.predictive_variance(1), 2.5);
  EXPECT_DOUBLE_EQ(niw.scale2(1), 10 * 5 / (4 * 7.0));
}

TEST(Niw, PredictiveVarianceIsTheSumOfBothAndTheStudentT) {
  Generator rng(20);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const auto event = random_event(rng, 4, 1, 2, 20);
    const auto niw = event.pre.niw();
    const double d = niw.dof();
    for (int j = 0; j < 4; ++j) {
      const double variance = niw.predictive_variance(j);
      EXPECT_NEAR(niw.aleatoric(j) + niw.epistemic(j), variance, 1e-14 * variance);
      EXPECT_NEAR(niw.scale2(j) * d / (d - 2), variance, 1e-13 * variance);
    }
  }
}

TEST(StudentTNll, IsBoostsDensityForOneFeature) {
  Generator rng(21);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto event = random_event(rng, 1 + repeat % 30, 1, 2, repeat % 2 ? 3 : 1000, 2);
    const auto j = event.feature[0];
    const double scale = std::sqrt(event.pre.niw().scale2(j));
    const boost::math::students_t t(event.pre.niw().dof());
    const double density = boost::math::pdf(t, (event.x[0] - event.pre.mu[j]) / scale) / scale;
    EXPECT_NEAR(nll(event), -std::log(density), 1e-12 * (1 + std::abs(std::log(density))));
  }
}

// d = ν grows: the density tends to the Gaussian of the same scale, with a gap of O(1/d).
TEST(StudentTNll, TendsToTheGaussian) {
  for (const double nu : {1e4, 1e6, 1e8}) {
    Event<double> event;
    event.pre = Parameters<double>(2);
    event.pre.lambda = 1, event.pre.nu = nu;
    event.pre.log_psi = {std::log(nu / 2), std::log(nu / 2)};  // s² = 1 but for O(1/ν)
    event.feature = {0, 1}, event.x = {0.7, -1.2};
    const double gaussian = std::log(2 * std::numbers::pi) + 0.5 * (0.49 + 1.44);
    EXPECT_NEAR(nll(event), gaussian, 10 / nu);
  }
}

TEST(StudentTNll, MarginalisesFromTwoFeaturesToOne) {
  Generator rng(22);
  boost::math::quadrature::sinh_sinh<double> integrator;
  for (int repeat = 0; repeat < 10; ++repeat) {
    auto pair = random_event(rng, 5, 2);
    auto single = pair;
    single.feature.pop_back(), single.x.pop_back();
    const double centre = pair.pre.mu[pair.feature[1]];
    const double density = integrator.integrate([&](double x) {
      pair.x[1] = centre + x;
      return std::isfinite(x) && std::abs(x) < 1e100 ? std::exp(-nll(pair)) : 0.0;
    });
    EXPECT_NEAR(density, std::exp(-nll(single)), 1e-8 * density);
  }
}

}  // namespace
}  // namespace edict
