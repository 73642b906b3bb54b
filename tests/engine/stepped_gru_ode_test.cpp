// How long the steps are: full ones from the event on, one shorter one at the end.
#include "engine/propagators/stepped_gru_ode.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace edict {
namespace {

SteppedGruOde propagator(Solver solver, double step) {
  EngineSettings settings;
  settings.hidden = 2;
  settings.solver = solver;
  settings.step = step;
  ParameterLayout layout;
  return {layout, "ode", settings};
}

Clock clock_at(double time, double dt) { return {time, 0, time, dt}; }

// The lengths of all moves to `target`.
std::vector<double> moves(const SteppedGruOde& ode, double start, double target) {
  Clock clock = clock_at(start, 0.0);
  std::vector<double> lengths;
  for (;;) {
    const Move move = ode.next(clock, target);
    lengths.push_back(move.dt);
    EXPECT_TRUE(ode.accept(clock, move, 0.0));
    if (move.last) return lengths;
  }
}

TEST(FixedSteps, FullOnesAndAShorterLast) {
  const SteppedGruOde ode = propagator(Solver::euler, 0.25);
  EXPECT_EQ(moves(ode, 1.0, 1.625), (std::vector<double>{0.25, 0.25, 0.125}));
  EXPECT_EQ(moves(ode, 1.0, 1.5), (std::vector<double>{0.25, 0.25}));
  EXPECT_EQ(moves(ode, 1.0, 1.125), (std::vector<double>{0.125}));
}

TEST(FixedSteps, NoWayIsOneStepOfLengthZero) {
  EXPECT_EQ(moves(propagator(Solver::rk4, 0.25), 3.0, 3.0), (std::vector<double>{0.0}));
}

// 0.15/0.05 is a little more than three in binary: a fourth step of 1e-17 would cost as much as a
// full one.
TEST(FixedSteps, RoundingAddsNoStep) {
  const std::vector<double> lengths = moves(propagator(Solver::euler, 0.05), 0.0, 0.15);
  ASSERT_EQ(lengths.size(), 3u);
  EXPECT_NEAR(lengths[2], 0.05, 1e-15);
}

TEST(FixedSteps, EndExactlyAtTheTargetHoweverMany) {
  double sum = 0;
  const std::vector<double> lengths = moves(propagator(Solver::euler, 0.1), 0.0, 123.456);
  for (const double length : lengths) sum += length;
  EXPECT_EQ(lengths.size(), 1235u);
  EXPECT_NEAR(sum, 123.456, 1e-9);
}

TEST(FixedSteps, TheStepsBeforeTheLastAreCounted) {
  const SteppedGruOde ode = propagator(Solver::euler, 0.25);
  Clock clock = clock_at(0, 0);
  EXPECT_EQ(ode.steps_to(clock, 1.1), 5);
  EXPECT_EQ(ode.full_steps(clock, 1.1), 4);
  ode.accept(clock, {0.25, false}, 0.0);
  EXPECT_EQ(ode.full_steps(clock, 1.1), 3);
}

TEST(AdaptiveSteps, AGoodStepGrowsAndABadOneIsTriedShorter) {
  const SteppedGruOde ode = propagator(Solver::dopri5, 0.1);
  Clock clock = clock_at(2.0, 0.1);
  EXPECT_TRUE(ode.accept(clock, {0.1, false}, 1e-6));
  EXPECT_DOUBLE_EQ(clock.now, 2.1);
  EXPECT_DOUBLE_EQ(clock.dt, 0.5);  // five times at most
  EXPECT_FALSE(ode.accept(clock, {0.5, false}, 1e9));
  EXPECT_DOUBLE_EQ(clock.now, 2.1);
  EXPECT_DOUBLE_EQ(clock.dt, 0.1);  // a fifth at least
  EXPECT_EQ(clock.steps, 2);
}

TEST(AdaptiveSteps, AnErrorThatIsNotANumberIsBad) {
  const SteppedGruOde ode = propagator(Solver::dopri5, 0.1);
  Clock clock = clock_at(2.0, 0.1);
  EXPECT_FALSE(ode.accept(clock, {0.1, true}, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_LT(clock.dt, 0.1);
  EXPECT_FALSE(ode.accept(clock, {0.1, true}, std::numeric_limits<double>::infinity()));
}

TEST(AdaptiveSteps, AStepCutShortByItsTargetDoesNotShortenTheNext) {
  const SteppedGruOde ode = propagator(Solver::dopri5, 0.1);
  Clock clock = clock_at(0.0, 2.0);
  const Move move = ode.next(clock, 0.001);
  EXPECT_TRUE(move.last);
  EXPECT_EQ(move.dt, 0.001);
  EXPECT_TRUE(ode.accept(clock, move, 0.5));
  EXPECT_EQ(clock.dt, 2.0);
}

TEST(AdaptiveSteps, ALastSliverJoinsTheStepBeforeIt) {
  const SteppedGruOde ode = propagator(Solver::dopri5, 0.1);
  const Clock clock = clock_at(0.0, 0.995);
  EXPECT_TRUE(ode.next(clock, 1.0).last);
  EXPECT_EQ(ode.next(clock, 1.0).dt, 1.0);
  EXPECT_FALSE(ode.next(clock, 1.1).last);
}

TEST(AdaptiveSteps, VanishWhereTheyWouldNeverArrive) {
  const SteppedGruOde ode = propagator(Solver::dopri5, 0.1);
  EXPECT_FALSE(ode.vanished(clock_at(0.0, 1e-9), 1.0));
  EXPECT_TRUE(ode.vanished(clock_at(0.0, 1e-11), 1.0));
  // A short way may be gone in short steps.
  EXPECT_FALSE(ode.vanished(clock_at(0.0, 1e-11), 1e-6));
}

}  // namespace
}  // namespace edict
