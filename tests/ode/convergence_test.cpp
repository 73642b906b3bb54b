// Each solver converges with the order that it claims, on a nonlinear problem with known solution.
#include <gtest/gtest.h>

#include "ode/oscillator.h"

namespace edict {
namespace {

constexpr double kR0 = 0.4, kTheta0 = 0.3, kEnd = 6.0;

Matrix<double> start() {
  Matrix<double> h(2, 1);
  h << kR0 * std::cos(kTheta0), kR0 * std::sin(kTheta0);
  return h;
}

double distance(const Matrix<double>& h, double t) {
  const auto exact = Oscillator::solution(kR0, kTheta0, t);
  return std::hypot(h(0, 0) - exact[0], h(1, 0) - exact[1]);
}

class Convergence : public testing::TestWithParam<Solver> {};

TEST_P(Convergence, GlobalErrorHasTheOrderOfTheSolver) {
  const Tableau& solver = tableau(GetParam());
  std::vector<double> lengths, errors;
  // From where the leading term of the error rules to well above rounding, for every order.
  const int coarsest = solver.order <= 2 ? 256 : 48;
  for (int steps = coarsest; steps <= 8 * coarsest; steps = steps * 3 / 2) {
    Matrix<double> h = start();
    const double dt = kEnd / steps;
    double worst = 0;  // along the way: at one moment the leading term may happen to vanish
    for (int i = 0; i < steps; ++i) {
      h = step(solver, h, Vector<double>::Constant(1, dt));
      worst = std::max(worst, distance(h, (i + 1) * dt));
    }
    lengths.push_back(dt);
    errors.push_back(worst);
    EXPECT_GT(errors.back(), 1e-14);
  }
  EXPECT_NEAR(log_slope(lengths, errors), solver.order, 0.15);
}

INSTANTIATE_TEST_SUITE_P(All, Convergence,
                         testing::Values(Solver::euler, Solver::midpoint, Solver::rk4,
                                         Solver::dopri5));

TEST(Convergence, ErrorEstimateIsOfFifthOrderInTheStep) {
  std::vector<double> lengths, norms;
  for (double dt = 0.2; dt > 0.01; dt /= 1.5) {
    const Matrix<double> h = start();
    Oscillator field(1);
    std::vector<double> k(7 * 2);
    Matrix<double> next(2, 1);
    step_forward(kDopri5, field, 2, 1, h.data(), &dt, k.data(), next.data());
    field.slope(next.data(), k.data() + 6 * 2);
    double norm = 0;
    error_norms(kDopri5, 2, 1, h.data(), next.data(), &dt, k.data(), 0.0, 1.0, &norm);
    lengths.push_back(dt);
    norms.push_back(norm);
  }
  EXPECT_NEAR(log_slope(lengths, norms), 5.0, 0.15);
}

TEST(Convergence, EachColumnTakesItsOwnStep) {
  Matrix<double> h(2, 3);
  h << 0.4, -1.1, 0.2, 0.1, 0.7, -0.9;
  Vector<double> dt(3);
  dt << 0.3, 0.0, 0.05;
  for (const Tableau* solver : {&kEuler, &kMidpoint, &kRk4, &kDopri5}) {
    const Matrix<double> together = step(*solver, h, dt);
    for (Index c = 0; c < 3; ++c)
      EXPECT_EQ(together.col(c), step(*solver, h.col(c), dt.segment(c, 1)).col(0)) << solver->order;
    EXPECT_EQ(together.col(1), h.col(1))
        << solver->order << ": a step of length 0 stays where it is";
  }
}

TEST(Convergence, TheStepMayOverwriteItsInput) {
  Matrix<double> h = start();
  const Vector<double> dt = Vector<double>::Constant(1, 0.1);
  const Matrix<double> apart = step(kRk4, h, dt);
  Oscillator field(1);
  std::vector<double> k(4 * 2);
  step_forward(kRk4, field, 2, 1, h.data(), dt.data(), k.data(), h.data());
  EXPECT_EQ(h, apart);
}

// Butcher's eight conditions up to order four, for weights b.
void expect_order_conditions(const Tableau& t, const std::array<double, 7>& b, int order) {
  std::array<double, 7> c{}, ac{}, acc{}, aac{};
  const auto times_a = [&](const std::array<double, 7>& x) {
    std::array<double, 7> y{};
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 7; ++j) y[i] += t.a[i][j] * x[j];
    return y;
  };
  std::array<double, 7> ones, squares{};
  ones.fill(1);
  c = times_a(ones);
  for (std::size_t i = 0; i < 7; ++i) squares[i] = c[i] * c[i];
  ac = times_a(c), acc = times_a(squares), aac = times_a(ac);
  const auto sum = [&](auto&& f) {
    double s = 0;
    for (std::size_t i = 0; i < 7; ++i) s += b[i] * f(i);
    return s;
  };
  const auto expect = [&](int of_order, double value, double target) {
    if (of_order > order) return;
    EXPECT_NEAR(value, target, 1e-14) << t.order << " order " << of_order;
  };
  expect(1, sum([](std::size_t) { return 1.0; }), 1.0);
  expect(2, sum([&](std::size_t i) { return c[i]; }), 1.0 / 2);
  expect(3, sum([&](std::size_t i) { return squares[i]; }), 1.0 / 3);
  expect(3, sum([&](std::size_t i) { return ac[i]; }), 1.0 / 6);
  expect(4, sum([&](std::size_t i) { return squares[i] * c[i]; }), 1.0 / 4);
  expect(4, sum([&](std::size_t i) { return c[i] * ac[i]; }), 1.0 / 8);
  expect(4, sum([&](std::size_t i) { return acc[i]; }), 1.0 / 12);
  expect(4, sum([&](std::size_t i) { return aac[i]; }), 1.0 / 24);
}

TEST(Tableau, CoefficientsMeetTheOrderConditions) {
  for (const Tableau* t : {&kEuler, &kMidpoint, &kRk4, &kDopri5})
    expect_order_conditions(*t, t->b, t->order);
  // The embedded method b̂ = b − error is of order four; its last stage sits at the end of the step
  // and is the weights themselves.
  Tableau pair = kDopri5;
  pair.a[6] = kDopri5.b;
  std::array<double, 7> embedded{};
  for (std::size_t i = 0; i < 7; ++i) embedded[i] = kDopri5.b[i] - kDopri5.error[i];
  expect_order_conditions(pair, embedded, 4);
}

}  // namespace
}  // namespace edict
