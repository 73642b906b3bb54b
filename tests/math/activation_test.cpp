// The fast activations against the standard library, in every place of an array.
#include "edict/math/activation.h"

#include <gtest/gtest.h>

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
