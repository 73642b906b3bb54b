#include "ode/cycle.h"

#include <gtest/gtest.h>

#include <array>

namespace edict {
namespace {

// Runs into a cycle of `period` numbers after `tail` others.
std::array<float, 2> after(std::int64_t steps, std::int64_t tail, std::int64_t period) {
  const std::int64_t place = steps < tail ? steps : tail + (steps - tail) % period;
  return {3.0F, static_cast<float>(place)};
}

TEST(CycleSearch, WhatIsLeftOutLeadsBackToTheSameState) {
  CycleSearch<float> search;
  for (const std::int64_t tail : {0, 1, 2, 7, 100, 1000})
    for (const std::int64_t period : {1, 2, 3, 8, 50})
      for (const std::int64_t steps : {1, 2, 63, 64, 5000, 5001, 1000000}) {
        search.begin();
        std::int64_t taken = 0, place = 0;
        for (std::int64_t i = 0; i < steps; ++i) {
          const auto state = after(++place, tail, period);
          ++taken;
          const std::int64_t idle = search.idle(state.data(), state.size(), steps - 1 - i);
          EXPECT_EQ(idle % period, 0);
          i += idle;
        }
        EXPECT_EQ(after(place, tail, period), after(steps, tail, period))
            << tail << ' ' << period << ' ' << steps;
        EXPECT_LE(taken, 4 * (tail + period) + 4);
      }
}

TEST(CycleSearch, OfAStateThatNeverComesBackNothingIsLeftOut) {
  CycleSearch<double> search;
  for (int step = 0; step < 1000; ++step) {
    const double state = step;
    EXPECT_EQ(search.idle(&state, 1, 1000000), 0);
  }
}

}  // namespace
}  // namespace edict
