#include "nn/linear.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kIn = 3, kOut = 5, kWidth = 4;

struct LinearLayer : testing::Test {
  ParameterLayout layout;
  Linear layer{layout, "l", kIn, kOut};
  Generator rng{1};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> x = random_vector(rng, kIn* kWidth);

  Vector<double> forward(const Vector<double>& p, const Vector<double>& v) const {
    Vector<double> y(kOut * kWidth);
    layer.forward(p.data(), kWidth, v.data(), y.data());
    return y;
  }
};

TEST_F(LinearLayer, EqualsTheNaiveSum) {
  const NamedWeights weight(layout, params);
  Vector<double> expected(kOut * kWidth);
  for (Index c = 0; c < kWidth; ++c)
    for (Index o = 0; o < kOut; ++o) {
      double sum = weight("l.bias", o);
      for (Index i = 0; i < kIn; ++i) sum += weight("l.weight", o, i) * x[c * kIn + i];
      expected[c * kOut + o] = sum;
    }
  expect_equal(forward(params, x), expected);
}

TEST_F(LinearLayer, BackwardEqualsDifferences) {
  const Vector<double> c = random_vector(rng, kOut * kWidth);
  Vector<double> grads = Vector<double>::Constant(layout.size(), 0.5), d_x(kIn * kWidth);
  layer.backward(params.data(), kWidth, x.data(), c.data(), d_x.data(), grads.data());
  expect_gradients([&](const auto& p, const auto& v) { return forward(p, v); }, params, x, c, d_x,
                   grads, 0.5);

  Vector<double> weights_only = Vector<double>::Constant(layout.size(), 0.5);
  layer.backward_weights(kWidth, x.data(), c.data(), weights_only.data());
  EXPECT_EQ(weights_only, grads);
}

}  // namespace
}  // namespace edict
