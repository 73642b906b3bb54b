// Error control: the tolerance asked for decides the error made, and step lengths change within
// bounds.
#include <gtest/gtest.h>

#include <limits>

#include "ode/oscillator.h"

namespace edict {
namespace {

constexpr double kR0 = 0.4, kTheta0 = 0.3, kEnd = 10.0;

struct Journey {
  Matrix<double> h;
  int accepted = 0, rejected = 0;
};

// Walks one column from t = 0 to `end`, as the engine does: a refused step is tried again shorter.
Journey walk(double r0, double theta0, double end, double rtol, double atol, double dt) {
  Journey journey{Matrix<double>(2, 1)};
  journey.h << r0 * std::cos(theta0), r0 * std::sin(theta0);
  for (double t = 0; t < end;) {
    dt = std::min(dt, end - t);
    Oscillator field(1);
    std::vector<double> k(7 * 2);
    Matrix<double> next(2, 1);
    step_forward(kDopri5, field, 2, 1, journey.h.data(), &dt, k.data(), next.data());
    field.slope(next.data(), k.data() + 6 * 2);
    double norm = 0;
    error_norms(kDopri5, 2, 1, journey.h.data(), next.data(), &dt, k.data(), rtol, atol, &norm);
    if (norm <= 1) {
      t += dt;
      journey.h = next;
      ++journey.accepted;
    } else {
      ++journey.rejected;
    }
    dt *= step_factor(kDopri5, norm);
    if (journey.accepted + journey.rejected > 100000) throw std::runtime_error("no end in sight");
  }
  return journey;
}

double error(const Journey& journey, double r0, double theta0, double end) {
  const auto exact = Oscillator::solution(r0, theta0, end);
  return std::hypot(journey.h(0, 0) - exact[0], journey.h(1, 0) - exact[1]);
}

// With the error per step held at the tolerance and the fifth-order result kept, the global error
// falls about as fast as the tolerance itself.
TEST(Adaptive, GlobalErrorScalesWithTheTolerance) {
  std::vector<double> tolerances, errors;
  for (double tolerance = 1e-5; tolerance > 1e-12; tolerance /= 4) {
    const Journey journey = walk(kR0, kTheta0, kEnd, tolerance, tolerance, 0.1);
    tolerances.push_back(tolerance);
    errors.push_back(error(journey, kR0, kTheta0, kEnd));
    EXPECT_LT(errors.back(), 20 * tolerance);
  }
  EXPECT_NEAR(log_slope(tolerances, errors), 1.0, 0.15);
}

TEST(Adaptive, TighterToleranceTakesMoreSteps) {
  const Journey loose = walk(kR0, kTheta0, kEnd, 1e-3, 1e-3, 0.1);
  const Journey tight = walk(kR0, kTheta0, kEnd, 1e-8, 1e-8, 0.1);
  // Steps grow with the fifth root of the tolerance: ten times more for five orders.
  EXPECT_GT(tight.accepted, 5 * loose.accepted);
  EXPECT_LT(tight.accepted, 20 * loose.accepted);
}

TEST(Adaptive, RecoversFromAFirstStepThatIsFarTooLongOrShort) {
  const Journey too_long = walk(kR0, kTheta0, kEnd, 1e-6, 1e-6, 10.0);
  EXPECT_GT(too_long.rejected, 0);
  EXPECT_LT(error(too_long, kR0, kTheta0, kEnd), 2e-5);
  const Journey too_short = walk(kR0, kTheta0, kEnd, 1e-6, 1e-6, 1e-8);
  EXPECT_LT(error(too_short, kR0, kTheta0, kEnd), 2e-5);
  EXPECT_LT(too_short.accepted, too_long.accepted + 15);  // 5¹⁵ spans what was too short
}

TEST(Adaptive, NormIsTheRootMeanSquareOfTheScaledError) {
  // Only the last stage's slope differs from zero: error = dt · (−1/40) · k.
  std::vector<double> k(7 * 4, 0.0);
  k[6 * 4 + 0] = 40, k[6 * 4 + 1] = -80;  // first column: errors −0.1, 0.2 at dt = 0.1
  k[6 * 4 + 2] = 40, k[6 * 4 + 3] = 0;    // second: −0.5, 0 at dt = 0.5
  const double h[] = {1, -3, 0, 0}, next[] = {-2, 1, 0, 4}, dt[] = {0.1, 0.5};
  double norms[2];
  error_norms(kDopri5, 2, 2, h, next, dt, k.data(), 0.1, 0.05, norms);
  // Scales: 0.05 + 0.1·max(|h|, |next|) = 0.25, 0.35; 0.05, 0.45.
  EXPECT_NEAR(norms[0], std::sqrt((0.16 + (0.2 / 0.35) * (0.2 / 0.35)) / 2), 1e-14);
  EXPECT_NEAR(norms[1], std::sqrt(100.0 / 2), 1e-13);
}

TEST(Adaptive, StepFactorStaysWithinItsLimits) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(step_factor(kDopri5, 0.0), 5.0);
  EXPECT_EQ(step_factor(kDopri5, 1e-300), 5.0);
  EXPECT_EQ(step_factor(kDopri5, infinity), 0.2);
  EXPECT_EQ(step_factor(kDopri5, 1e300), 0.2);
  EXPECT_EQ(step_factor(kDopri5, std::nan("")), 0.2);
  EXPECT_DOUBLE_EQ(step_factor(kDopri5, 1.0), 0.9);
  EXPECT_DOUBLE_EQ(step_factor(kDopri5, 1.0 / 32), 1.8);
  EXPECT_DOUBLE_EQ(step_factor(kDopri5, 32.0), 0.45);
  double before = 5.0;
  for (double norm = 1e-6; norm < 1e6; norm *= 1.1) {
    const double factor = step_factor(kDopri5, norm);
    EXPECT_LE(factor, before);
    before = factor;
  }
}

}  // namespace
}  // namespace edict
