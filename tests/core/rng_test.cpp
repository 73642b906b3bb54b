#include "edict/core/rng.h"

#include <gtest/gtest.h>

#include <vector>

namespace edict {
namespace {

TEST(Rng, SameSeedSameBitsAndStreamsDiffer) {
  Rng a(7, 1), b(7, 1), c(7, 2);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto x = a.bits();
    EXPECT_EQ(x, b.bits());
    differs |= x != c.bits();
  }
  EXPECT_TRUE(differs);
}

// 10⁵ draws: the standard error of a mean of unit variance is 0.0032; four of them are allowed.
TEST(Rng, MomentsOfUniformAndNormal) {
  Rng rng(1);
  const int n = 100000;
  double u = 0, u2 = 0, z = 0, z2 = 0, z4 = 0;
  for (int i = 0; i < n; ++i) {
    const double a = rng.uniform(), b = rng.normal();
    ASSERT_GE(a, 0.0);
    ASSERT_LT(a, 1.0);
    u += a, u2 += a * a, z += b, z2 += b * b, z4 += b * b * b * b;
  }
  EXPECT_NEAR(u / n, 0.5, 0.004);
  EXPECT_NEAR(u2 / n, 1.0 / 3.0, 0.004);
  EXPECT_NEAR(z / n, 0.0, 0.0128);
  EXPECT_NEAR(z2 / n, 1.0, 0.018);
  EXPECT_NEAR(z4 / n, 3.0, 0.13);
}

TEST(Rng, BelowCoversItsRangeEvenly) {
  Rng rng(3);
  std::vector<int> count(7);
  for (int i = 0; i < 70000; ++i) ++count[rng.below(7)];
  for (int c : count) EXPECT_NEAR(c, 10000, 400);  // four standard deviations
}

}  // namespace
}  // namespace edict
