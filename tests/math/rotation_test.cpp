// Sine and cosine of an angle in turns against the standard library.
#include "math/rotation.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace edict {
namespace {

Rotation<float> rotation(float turns) { return rotation_lanes(Lanes<float>::Vector{} + turns); }

// The polynomials are good to 2e-8, their evaluation in float to a unit in the last place of 1.
TEST(Rotation, WithinTwoTenMillionthsOfTheExactValue) {
  for (int i = -60000; i <= 60000; ++i) {
    const float turns = static_cast<float>(i) * 1.7e-4f;
    const double angle = 2 * std::numbers::pi * static_cast<double>(turns);
    const Rotation<float> r = rotation(turns);
    for (Index lane = 0; lane < Lanes<float>::kCount; ++lane) {
      ASSERT_NEAR(r.sine[lane], std::sin(angle), 2e-7) << turns;
      ASSERT_NEAR(r.cosine[lane], std::cos(angle), 2e-7) << turns;
    }
  }
}

TEST(Rotation, QuartersOfATurnAreExact) {
  const float sines[] = {0, 1, 0, -1}, cosines[] = {1, 0, -1, 0};
  for (int quarter = -8; quarter <= 8; ++quarter) {
    const Rotation<float> r = rotation(0.25f * static_cast<float>(quarter));
    EXPECT_EQ(r.sine[0], sines[quarter & 3]) << quarter;
    EXPECT_EQ(r.cosine[0], cosines[quarter & 3]) << quarter;
  }
}

// Where a float has no fraction left the angle means nothing, but the point stays on the circle.
TEST(Rotation, AnyAngleIsAPointOnTheCircle) {
  for (const float turns : {1e5f, 1e6f, 4194303.75f, 8388608.5f, 1e9f, 1e30f, -1e7f, -1e38f}) {
    const Rotation<float> r = rotation(turns);
    EXPECT_NEAR(r.sine[0] * r.sine[0] + r.cosine[0] * r.cosine[0], 1.0f, 1e-6f) << turns;
  }
  EXPECT_TRUE(std::isnan(rotation(std::numeric_limits<float>::quiet_NaN()).sine[0]));
}

TEST(Rotation, DoubleIsTheStandardLibrary) {
  for (const double turns : {0.0, 0.1, -0.37, 3.9, 1000.25}) {
    const Rotation<double> r = rotation_lanes(Lanes<double>::Vector{} + turns);
    const double angle = 2 * std::numbers::pi * turns;
    EXPECT_NEAR(r.sine[0], std::sin(angle), 1e-12);
    EXPECT_NEAR(r.cosine[0], std::cos(angle), 1e-12);
  }
}

}  // namespace
}  // namespace edict
