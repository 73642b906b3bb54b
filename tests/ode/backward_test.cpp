// The reverse of one step against central differences, columns with step lengths of their own.
#include <gtest/gtest.h>

#include "base/generator.h"
#include "ode/oscillator.h"

namespace edict {
namespace {

class StepBackward : public testing::TestWithParam<Solver> {};

TEST_P(StepBackward, EqualsCentralDifferences) {
  const Tableau& solver = tableau(GetParam());
  Generator rng(4);
  const Index w = 5;
  Matrix<double> h(2, w), weight(2, w);
  Vector<double> dt(w);
  for (Index i = 0; i < h.size(); ++i) {
    h.data()[i] = rng.uniform(-1.2, 1.2);
    weight.data()[i] = rng.normal();
  }
  dt << 0.02, 0.1, 0.5, 0.0, 0.3;

  Oscillator field(w);
  std::vector<double> k(static_cast<std::size_t>((solver.stages + 1) * h.size()));
  Matrix<double> next(2, w);
  step_forward(solver, field, 2, w, h.data(), dt.data(), k.data(), next.data());
  std::vector<double> d_k(k.size()), d_y(k.size());
  Matrix<double> d_h = weight;
  step_backward(solver, field, 2, w, dt.data(), d_k.data(), d_y.data(), d_h.data());

  for (Index i = 0; i < h.size(); ++i) {
    const auto loss = [&](double offset) {
      Matrix<double> moved = h;
      moved.data()[i] += offset;
      return step(solver, moved, dt).cwiseProduct(weight).sum();
    };
    const double e = 1e-3;  // the five-point formula is exact to e⁴
    const double numeric = (8 * (loss(e) - loss(-e)) - (loss(2 * e) - loss(-2 * e))) / (12 * e);
    EXPECT_NEAR(d_h.data()[i], numeric, 1e-9 * (1 + std::abs(numeric))) << i;
  }
  EXPECT_EQ(d_h.col(3), weight.col(3)) << "a step of length 0 hands the gradient on";
}

TEST_P(StepBackward, ManyStepsEqualCentralDifferences) {
  const Tableau& solver = tableau(GetParam());
  const int steps = 20;
  const Vector<double> dt = Vector<double>::Constant(1, 0.1);
  Matrix<double> h(2, 1);
  h << 0.3, -0.2;
  const auto end_of = [&](const Matrix<double>& from) {
    Matrix<double> at = from;
    for (int i = 0; i < steps; ++i) at = step(solver, at, dt);
    return at(0, 0) * at(1, 0);
  };

  std::vector<Oscillator> tape(steps, Oscillator(1));
  std::vector<double> k(7 * 2), d_k(7 * 2), d_y(7 * 2);
  Matrix<double> at = h;
  for (auto& field : tape)
    step_forward(solver, field, 2, 1, at.data(), dt.data(), k.data(), at.data());
  Matrix<double> d_h(2, 1);
  d_h << at(1, 0), at(0, 0);
  for (auto field = tape.rbegin(); field != tape.rend(); ++field)
    step_backward(solver, *field, 2, 1, dt.data(), d_k.data(), d_y.data(), d_h.data());

  for (Index i = 0; i < 2; ++i) {
    const auto loss = [&](double offset) {
      Matrix<double> moved = h;
      moved(i, 0) += offset;
      return end_of(moved);
    };
    const double e = 1e-3;
    const double numeric = (8 * (loss(e) - loss(-e)) - (loss(2 * e) - loss(-2 * e))) / (12 * e);
    EXPECT_NEAR(d_h(i, 0), numeric, 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StepBackward,
                         testing::Values(Solver::euler, Solver::midpoint, Solver::rk4,
                                         Solver::dopri5));

}  // namespace
}  // namespace edict
