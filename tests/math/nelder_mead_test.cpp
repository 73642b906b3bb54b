#include "math/nelder_mead.h"

#include <gtest/gtest.h>

namespace edict {
namespace {

TEST(NelderMead, FindsTheMinimumOfACurvedValley) {
  const auto rosenbrock = [](const std::array<double, 2>& p) {
    const double a = 1 - p[0], b = p[1] - p[0] * p[0];
    return a * a + 100 * b * b;
  };
  const auto found =
      nelder_mead<2>(rosenbrock, {-1.2, 1.0}, {0.5, 0.5}, 1e-14, 1000);  // the classic start
  EXPECT_NEAR(found[0], 1.0, 1e-5);
  EXPECT_NEAR(found[1], 1.0, 1e-5);
}

TEST(NelderMead, FindsTheMinimumOfASlantedBowl) {
  const auto bowl = [](const std::array<double, 3>& p) {
    const double x = p[0] - 2, y = p[1] + 1, z = p[2] - 0.5;
    return 3 * x * x + y * y + 2 * z * z + x * y - y * z;
  };
  const auto found = nelder_mead<3>(bowl, {0, 0, 0}, {0.2, 0.1, 0.5});
  // The values of corners agree to 1e-9 at the end, so their places to about its root.
  EXPECT_NEAR(found[0], 2.0, 1e-4);
  EXPECT_NEAR(found[1], -1.0, 1e-4);
  EXPECT_NEAR(found[2], 0.5, 1e-4);
}

TEST(NelderMead, StopsWhenItsTurnsAreOver) {
  int calls = 0;
  const auto slope = [&](const std::array<double, 1>& p) { return ++calls, p[0]; };
  EXPECT_LT(nelder_mead<1>(slope, {0.0}, {1.0}, 0.0, 10)[0], 0.0);
  EXPECT_LE(calls, 2 + 3 * 10);
}

}  // namespace
}  // namespace edict
