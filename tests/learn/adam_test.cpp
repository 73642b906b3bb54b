#include "learn/adam.h"

#include <gtest/gtest.h>

#include <cmath>

namespace edict {
namespace {

Vector<float> vector(std::initializer_list<float> values) {
  return Eigen::Map<const Vector<float>>(values.begin(), static_cast<Index>(values.size()));
}

// m̂ = g and v̂ = g² after the first step: a full step against the sign. The second by hand.
TEST(Adam, FirstStepsByHand) {
  Adam adam(2);
  Vector<float> params = vector({1, -2});
  adam.step(vector({0.5f, -0.001f}), 0.1, 0.0, params);
  EXPECT_NEAR(params[0], 0.9, 1e-6);
  EXPECT_NEAR(params[1], -2 + 0.1 * 1e-3 / (1e-3 + 1e-8), 1e-6);
  adam.step(vector({-0.25f, 0}), 0.1, 0.0, params);
  // m = 0.9 · 0.05 − 0.1 · 0.25 = 0.02, v = 0.999 · 0.00025 + 0.001 · 0.0625 = 0.00031225.
  const double m = 0.02 / (1 - 0.81), v = 0.00031225 / (1 - 0.998001);
  EXPECT_NEAR(params[0], 0.9 - 0.1 * m / std::sqrt(v), 1e-6);
  EXPECT_EQ(adam.steps, 2);
  EXPECT_NEAR(adam.m[0], 0.02, 1e-8);
  EXPECT_NEAR(adam.v[0], 0.00031225, 1e-10);
}

// ε stands beside √v̂: a gradient as small as it moves half as far.
TEST(Adam, EpsilonHoldsBackTheSmallest) {
  Adam adam(1);
  Vector<float> params = vector({0});
  adam.step(vector({1e-8f}), 0.1, 0.0, params);
  EXPECT_NEAR(params[0], -0.05, 1e-6);
}

TEST(Adam, NoGradientNoStep) {
  Adam adam(3);
  Vector<float> params = vector({1, 0, -5});
  const Vector<float> before = params;
  adam.step(vector({0, 0, 0}), 0.1, 0.0, params);
  EXPECT_EQ(params, before);
}

// Decoupled: the parameters shrink by rate · decay a step whatever the gradient, and the moments
// know nothing of it.
TEST(Adam, WeightDecayShrinksAndIsNoPartOfTheGradient) {
  Adam decaying(2), plain(2);
  Vector<float> a = vector({2, -4}), b = a;
  for (int i = 0; i < 10; ++i) decaying.step(vector({0, 0}), 0.1, 0.5, a);
  EXPECT_NEAR(a[0], 2 * std::pow(0.95, 10), 1e-6);
  EXPECT_NEAR(a[1], -4 * std::pow(0.95, 10), 1e-6);
  EXPECT_EQ(decaying.m, vector({0, 0}));

  decaying = Adam(2);
  a = b;
  const Vector<float> g = vector({0.3f, -0.7f});
  decaying.step(g, 0.1, 0.5, a);
  plain.step(g, 0.1, 0.0, b);
  EXPECT_EQ(decaying.m, plain.m);
  EXPECT_EQ(decaying.v, plain.v);
  EXPECT_NEAR(a[0], 0.95 * 2 - 0.1, 1e-6);
  EXPECT_NEAR(b[0], 2 - 0.1, 1e-6);
}

TEST(ClipGradient, EntriesThenNorm) {
  Vector<float> g = vector({3, -0.5f, -7});
  clip_gradient(0.0, 0.0, g);
  EXPECT_EQ(g, vector({3, -0.5f, -7})) << "0 is off";
  clip_gradient(1.0, 0.0, g);
  EXPECT_EQ(g, vector({1, -0.5f, -1}));
  clip_gradient(0.0, 2.0, g);
  EXPECT_EQ(g, vector({1, -0.5f, -1})) << "a norm of 1.5 is within 2";
  clip_gradient(0.0, 0.75, g);
  EXPECT_NEAR(g[0], 0.5, 1e-6);
  EXPECT_NEAR(g[1], -0.25, 1e-6);
  EXPECT_NEAR(g[2], -0.5, 1e-6);

  // Both: the norm is that of the clipped entries.
  g = vector({300, 400});
  clip_gradient(3.0, 1.0, g);
  EXPECT_NEAR(g[0], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(g[1], std::sqrt(0.5), 1e-6);
}

// A norm whose square exceeds single precision.
TEST(ClipGradient, HugeGradientsKeepTheirDirection) {
  Vector<float> g = vector({3e30f, -4e30f});
  clip_gradient(0.0, 5.0, g);
  EXPECT_NEAR(g[0], 3.0, 1e-5);
  EXPECT_NEAR(g[1], -4.0, 1e-5);
}

}  // namespace
}  // namespace edict
