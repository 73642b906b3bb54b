#include "nn/mlp_bank.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kIn = 4, kHidden = 3, kWidth = 5;
const std::vector<MlpBank::Network> kNetworks = {{"a", 2}, {"b", 1}, {"c", 4}};

struct Bank : testing::Test {
  ParameterLayout layout;
  MlpBank bank{layout, "head", kIn, kHidden, kNetworks};
  Generator rng{4};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> h = random_vector(rng, kIn* kWidth);

  Vector<double> forward(const Vector<double>& p, const Vector<double>& v) const {
    Vector<double> a(bank.stacked() * kWidth), y(bank.rows() * kWidth);
    Vector<double> transposed = p;
    bank.transpose(p.data(), transposed.data());
    bank.forward(Transposed<double>{transposed.data()}, kWidth, v.data(), a.data(), y.data());
    return y;
  }
};

TEST_F(Bank, SizesAddUp) {
  EXPECT_EQ(bank.rows(), 7);
  EXPECT_EQ(bank.stacked(), 9);
  EXPECT_EQ(layout.size(), 3 * (kHidden * kIn + kHidden) + 7 * kHidden + 7);
}

TEST_F(Bank, EqualsSeparateNetworks) {
  const NamedWeights weight(layout, params);
  Vector<double> expected(bank.rows() * kWidth);
  Index active = 0;
  for (Index c = 0; c < kWidth; ++c) {
    Index row = 0;
    for (const auto& [name, out] : kNetworks)
      for (Index o = 0; o < out; ++o, ++row) {
        double y = weight("head." + name + ".1.bias", o);
        for (Index k = 0; k < kHidden; ++k) {
          double a = weight("head." + name + ".0.bias", k);
          for (Index i = 0; i < kIn; ++i)
            a += weight("head." + name + ".0.weight", k, i) * h[c * kIn + i];
          active += a > 0;
          y += weight("head." + name + ".1.weight", o, k) * std::max(a, 0.0);
        }
        expected[c * bank.rows() + row] = y;
      }
  }
  ASSERT_GT(active, 20);  // both sides of the relu are met
  ASSERT_LT(active, bank.rows() * kHidden * kWidth - 20);
  expect_equal(forward(params, h), expected);
}

TEST_F(Bank, BackwardEqualsDifferences) {
  const Vector<double> c = random_vector(rng, bank.rows() * kWidth);
  Vector<double> a(bank.stacked() * kWidth), y(bank.rows() * kWidth), d_a(a.size());
  Vector<double> d_h = Vector<double>::Constant(kIn * kWidth, 7);  // backward adds to it
  Vector<double> grads = Vector<double>::Constant(layout.size(), 7);
  Vector<double> transposed = params;
  bank.transpose(params.data(), transposed.data());
  bank.forward(Transposed<double>{transposed.data()}, kWidth, h.data(), a.data(), y.data());
  bank.backward(params.data(), kWidth, h.data(), a.data(), c.data(), d_a.data(), d_h.data(),
                grads.data());
  d_h.array() -= 7;
  expect_gradients([&](const auto& p, const auto& v) { return forward(p, v); }, params, h, c, d_h,
                   grads, 7);
}

}  // namespace
}  // namespace edict
