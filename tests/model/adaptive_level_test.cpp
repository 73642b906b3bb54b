#include "ask/adaptive_level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/generator.h"

namespace edict {
namespace {

// The share of observations that lay inside what was told before each.
template <class Reached>
double share_held(AdaptiveLevel level, int observations, const Reached& reached) {
  int held = 0;
  for (int t = 0; t < observations; ++t) {
    const double told = level.level(), own = reached(t, told);
    held += told >= 1 || (told > 0 && own <= told);
    level.observe(own);
  }
  return static_cast<double>(held) / observations;
}

double bound(double start, double rate, int observations) {
  return (std::max(start, 1 - start) + rate) / (rate * observations);
}

TEST(AdaptiveLevel, HoldsWhatWasPromisedWhateverComes) {
  for (const double promised : {0.5, 0.9, 0.99})
    for (const double rate : {0.005, 0.05, 0.3})
      for (const double start : {0.1, promised, 1.0}) {
        const auto kept = [&](int n, const auto& reached) {
          EXPECT_NEAR(share_held({promised, start, rate}, n, reached), promised,
                      bound(start, rate, n) + 1e-12)
              << promised << " " << rate << " " << start << " " << n;
        };
        for (const int n : {100, 10000}) {
          Generator rng(1, "reached", 0);
          kept(n, [&](int, double) { return rng.uniform(); });                     // a good model
          kept(n, [&](int, double) { return std::pow(rng.uniform(), 0.05); });     // far too sure
          kept(n, [&](int, double) { return std::pow(rng.uniform(), 20.0); });     // far too vague
          kept(n, [&](int t, double) { return t % 200 < 100 ? 0.0 : 0.999999; });  // changes
          // Somebody who always answers with what the interval just misses.
          kept(n, [&](int, double told) { return std::min(told + 1e-9, 1 - 1e-12); });
        }
      }
}

TEST(AdaptiveLevel, StaysWhereItIsRight) {
  AdaptiveLevel level(0.9, 0.9, 0.01);
  Generator rng(2, "reached", 0);
  double sum = 0;
  constexpr int kSteps = 20000;
  for (int t = 0; t < kSteps; ++t) {
    level.observe(rng.uniform());
    sum += level.level();
  }
  EXPECT_NEAR(sum / kSteps, 0.9, 0.01);
}

TEST(AdaptiveLevel, AMissWidensAndAHitNarrows) {
  AdaptiveLevel level(0.9, 0.9, 0.1);
  level.observe(0.95);
  EXPECT_NEAR(level.level(), 0.99, 1e-12);
  level.observe(0.95);
  EXPECT_NEAR(level.level(), 0.98, 1e-12);
  level.observe(0.985);
  EXPECT_DOUBLE_EQ(level.level(), 1.0);
}

}  // namespace
}  // namespace edict
