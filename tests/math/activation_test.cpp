// The fast activations against the standard library, in every place of an array.
#include "math/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace edict {
namespace {

TEST(Activation, WithinThreeTenMillionthsOfTheExactValue) {
  std::vector<float> x;
  for (int i = -40000; i <= 40000; ++i) x.push_back(static_cast<float>(i) * 5e-4f);
  std::vector<float> s = x, t = x;
  const auto n = static_cast<Index>(x.size());
  sigmoid_inplace(s.data(), n);
  tanh_inplace(t.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    ASSERT_NEAR(s[i], 1 / (1 + std::exp(-v)), 3e-7) << v;
    ASSERT_NEAR(t[i], std::tanh(v), 3e-7) << v;
  }
}

// Over all of its range, −87 to 88, in steps that are no multiple of anything. The polynomial is
// good to 9.2e-8 of the value, its evaluation in float to about as much again; x · log2 e is
// rounded to half a unit in its last place, which is |x| · 6e-8 of the value, and the constant log2
// e itself, in float, to 1.3e-8.
TEST(FastExp, RelativeErrorIsBoundedOverItsRange) {
  std::vector<float> x, y;
  for (double v = -87; v <= 88; v += 3.7e-4) x.push_back(static_cast<float>(v));
  y = x;
  exp_inplace(y.data(), static_cast<Index>(y.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    ASSERT_LE(std::abs(y[i] - exact) / exact, 2.5e-7 + 8e-8 * std::abs(x[i])) << x[i];
  }
}

// Beyond it e^x stays at its last values, positive and finite, and grows nowhere downwards.
TEST(FastExp, StaysAtTheEndsOfItsRangeAndNeverFalls) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> ends = {-kInf, -1e30f, -87.5f, -87, 88, 88.5f, 1e30f, kInf};
  exp_inplace(ends.data(), static_cast<Index>(ends.size()));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(ends[i], ends[3]);
    EXPECT_EQ(ends[i + 4], ends[4]);
  }
  EXPECT_NEAR(ends[3], std::exp(-87.0), 1e-5 * std::exp(-87.0));
  EXPECT_NEAR(ends[4], std::exp(88.0), 1e-5 * std::exp(88.0));

  // Where the whole part changes the polynomial starts anew from its other end.
  std::vector<float> steps;
  for (int n = -125; n <= 125; ++n)
    for (int k = -3; k <= 3; ++k)
      steps.push_back(static_cast<float>((n + 0.5 + 1e-4 * k) * 0.6931471805599453));
  std::vector<float> y = steps;
  exp_inplace(y.data(), static_cast<Index>(y.size()));
  for (std::size_t i = 1; i < y.size(); ++i) EXPECT_GE(y[i], y[i - 1]) << steps[i];
}

TEST(Activation, FarOutStaysAtTheLimits) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> s = {-kInf, -1e30f, -200, 200, 1e30f, kInf}, t = s;
  sigmoid_inplace(s.data(), 6);
  tanh_inplace(t.data(), 6);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(s[i], 0.0, 1e-30);
    EXPECT_EQ(t[i], -1.0f);
    EXPECT_EQ(s[i + 3], 1.0f);
    EXPECT_EQ(t[i + 3], 1.0f);
  }
}

TEST(Activation, NotANumberIsNotHidden) {
  float x[1] = {std::numeric_limits<float>::quiet_NaN()}, y[1] = {x[0]};
  sigmoid_inplace(x, 1);
  tanh_inplace(y, 1);
  EXPECT_TRUE(std::isnan(x[0]));
  EXPECT_TRUE(std::isnan(y[0]));
}

TEST(Activation, PlaceAndLengthDoNotMatter) {
  for (Index n = 1; n <= 40; ++n) {
    std::vector<float> x(n, 0.3f);
    sigmoid_inplace(x.data(), n);
    for (float v : x) EXPECT_EQ(v, x[0]);
    EXPECT_NEAR(x[0], 0.57444252, 3e-7);
    x.assign(n, 0.3f);
    tanh_inplace(x.data(), n);
    for (float v : x) EXPECT_EQ(v, x[0]);
    EXPECT_NEAR(x[0], 0.29131261, 3e-7);
  }
}

TEST(Activation, DoubleIsTheStandardLibrary) {
  double s[2] = {0.3, -40}, t[2] = {0.3, -2};
  sigmoid_inplace(s, 2);
  tanh_inplace(t, 2);
  EXPECT_DOUBLE_EQ(s[0], 0.57444251681165903);
  EXPECT_DOUBLE_EQ(t[1], std::tanh(-2.0));
}

}  // namespace
}  // namespace edict
