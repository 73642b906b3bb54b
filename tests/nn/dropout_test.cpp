#include "nn/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace edict {
namespace {

TEST(Dropout, DropsItsShareAndKeepsTheMean) {
  constexpr Index kUnits = 100'000;
  std::vector<double> mask(kUnits);
  Generator rng(1);
  Dropout(0.3).draw(rng, kUnits, mask.data());
  double dropped = 0, sum = 0;
  for (const double m : mask) {
    EXPECT_TRUE(m == 0.0 || std::abs(m - 1 / 0.7) < 1e-12);
    dropped += m == 0.0;
    sum += m;
  }
  // Binomial with n = 1e5: five standard deviations are 5·√(0.3·0.7/n) = 0.0072.
  EXPECT_NEAR(dropped / kUnits, 0.3, 0.0072);
  EXPECT_NEAR(sum / kUnits, 1.0, 0.0072 / 0.7);
}

TEST(Dropout, TheSameSeedGivesTheSameMask) {
  std::vector<float> a(37), b(37), c(37);
  Generator first(5), second(5), third(6);
  Dropout(0.5).draw(first, 37, a.data());
  Dropout(0.5).draw(second, 37, b.data());
  Dropout(0.5).draw(third, 37, c.data());
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(Dropout, OffKeepsEverything) {
  EXPECT_FALSE(Dropout::off().active());
  std::vector<float> mask(9);
  Generator rng(1);
  Dropout::off().draw(rng, 9, mask.data());
  EXPECT_EQ(mask, std::vector<float>(9, 1.0f));
}

}  // namespace
}  // namespace edict
