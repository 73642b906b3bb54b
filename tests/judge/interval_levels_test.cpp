#include "judge/interval_levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "base/not_finite.h"
#include "math/student_t.h"

namespace edict {
namespace {

// linspace(0, 1, 20), as in the code of the paper's authors.
TEST(IntervalLevels, AreTwentyFromZeroToOne) {
  const PerLevel levels = interval_levels();
  ASSERT_EQ(levels.size(), 20u);
  EXPECT_EQ(levels.front(), 0.0);
  EXPECT_EQ(levels.back(), 1.0);
  for (std::size_t k = 1; k < kLevels; ++k)
    EXPECT_NEAR(levels[k] - levels[k - 1], 1.0 / 19.0, 1e-15);
}

TEST(IntervalHalfWidths, MatchTheRootSearchForEveryDof) {
  for (double dof = 1.001; dof < 1e6; dof *= 1.37) {
    const PerWidth half_width = interval_half_widths(dof);
    for (std::size_t k = 0; k < kWidths; ++k) {
      const double exact = student_t_half_width(interval_levels()[k], dof);
      EXPECT_NEAR(half_width[k], exact, 1e-11 * exact) << "dof " << dof << " level " << k;
    }
  }
}

TEST(IntervalHalfWidths, MatchTheClosedForms) {
  const PerWidth cauchy = interval_half_widths(1.0 + 1e-15), two = interval_half_widths(2.0),
                 gauss = interval_half_widths(kInfinity);
  for (std::size_t k = 0; k < kWidths; ++k) {
    const double level = interval_levels()[k];
    EXPECT_NEAR(cauchy[k], std::tan(std::numbers::pi / 2.0 * level), 1e-10) << k;
    EXPECT_NEAR(two[k], level * std::sqrt(2.0 / (1.0 - level * level)), 1e-11) << k;
    EXPECT_NEAR(std::erf(gauss[k] / std::numbers::sqrt2), level, 1e-12) << k;
  }
}

TEST(IntervalHalfWidths, RefuseADistributionWithoutMean) {
  EXPECT_THROW(interval_half_widths(1.0), Error);
  EXPECT_THROW(interval_half_widths(std::nan("")), Error);
}

}  // namespace
}  // namespace edict
