// The float activations against the standard library in double, over the whole range of float.
#include "edict/math/activation.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace edict {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Every 1,009th float between −limit and limit, in rising order.
std::vector<float> floats_up_to(float limit) {
  std::vector<float> values;
  const auto last = std::bit_cast<std::uint32_t>(limit);
  for (std::uint32_t bits = last; bits > 1009; bits -= 1009)
    values.push_back(-std::bit_cast<float>(bits));
  values.push_back(0.0f);
  for (std::uint32_t bits = last % 1009; bits <= last; bits += 1009)
    values.push_back(std::bit_cast<float>(bits));
  return values;
}

// The bounds are those that activation.h states.
TEST(Activation, ExpIsRightToItsBound) {
  double worst = 0;
  for (float x : floats_up_to(87.0f)) {
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(fast_exp(x)) / exact - 1));
  }
  EXPECT_LT(worst, 3e-7);
  EXPECT_GT(worst, 1.5e-7) << "better than stated: correct the comment";
}

TEST(Activation, SigmoidIsRightToItsBound) {
  const auto x = floats_up_to(std::numeric_limits<float>::max());
  auto y = x;
  sigmoid_inplace(y.data(), static_cast<Index>(y.size()));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(y[i]) -
                                     1 / (1 + std::exp(-static_cast<double>(x[i])))));
  EXPECT_LT(worst, 1.2e-7);
  EXPECT_GT(worst, 6e-8) << "better than stated: correct the comment";
}

TEST(Activation, TanhIsRightToItsBound) {
  const auto x = floats_up_to(std::numeric_limits<float>::max());
  auto y = x;
  tanh_inplace(y.data(), static_cast<Index>(y.size()));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst =
        std::max(worst, std::abs(static_cast<double>(y[i]) - std::tanh(static_cast<double>(x[i]))));
  EXPECT_LT(worst, 2.5e-7);
  EXPECT_GT(worst, 1.2e-7) << "better than stated: correct the comment";
}

TEST(Activation, NeverFallsWhereTheArgumentRises) {
  float e = 0, s = 0, t = -1;
  for (float x : floats_up_to(200.0f)) {
    EXPECT_GE(fast_exp(x), e) << x;
    EXPECT_GE(fast_sigmoid(x), s) << x;
    EXPECT_GE(fast_tanh(x), t) << x;
    e = fast_exp(x), s = fast_sigmoid(x), t = fast_tanh(x);
  }
}

TEST(Activation, SaturatesWithoutOverflow) {
  for (float x : {30.0f, 88.5f, 1000.0f, std::numeric_limits<float>::max(), kInfinity}) {
    EXPECT_EQ(fast_sigmoid(x), 1.0f) << x;
    EXPECT_EQ(fast_tanh(x), 1.0f) << x;
    EXPECT_EQ(fast_tanh(-x), -1.0f) << x;
    EXPECT_GE(fast_sigmoid(-x), 0.0f) << x;
    EXPECT_LE(fast_sigmoid(-x), 1e-13f) << x;
    EXPECT_TRUE(std::isfinite(fast_exp(x))) << x;
    EXPECT_GT(fast_exp(-x), 0.0f) << x;
  }
  EXPECT_EQ(fast_exp(kInfinity), fast_exp(88.0f));
  EXPECT_EQ(fast_exp(-kInfinity), fast_exp(-87.0f));
  EXPECT_EQ(fast_exp(0.0f), 1.0f);
  EXPECT_EQ(fast_sigmoid(0.0f), 0.5f);
  EXPECT_EQ(fast_tanh(0.0f), 0.0f);
}

// A NaN in a state must be seen in the loss, wherever in a vector it stands.
TEST(Activation, NanGoesThroughAndStaysInItsPlace) {
  EXPECT_TRUE(std::isnan(fast_exp(kNan)));
  for (std::size_t place = 0; place < 37; ++place) {
    std::vector<float> s(37, 0.25f), t(37, 0.25f);
    s[place] = t[place] = kNan;
    sigmoid_inplace(s.data(), 37);
    tanh_inplace(t.data(), 37);
    for (std::size_t i = 0; i < 37; ++i) {
      EXPECT_EQ(std::isnan(s[i]), i == place);
      EXPECT_EQ(std::isnan(t[i]), i == place);
    }
  }
}

TEST(Activation, DoubleIsTheStandardLibrarys) {
  for (double x : {-800.0, -3.0, 0.0, 0.1, 40.0, 800.0}) {
    double s = x, t = x;
    sigmoid_inplace(&s, 1);
    tanh_inplace(&t, 1);
    EXPECT_DOUBLE_EQ(s, 1 / (1 + std::exp(-x)));
    EXPECT_EQ(t, std::tanh(x));
  }
}

}  // namespace
}  // namespace edict
