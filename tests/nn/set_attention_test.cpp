// Attention over sets against its definition, with keys formed one by one.
#include "nn/set_attention.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kIn = 3, kWide = 4, kKey = 2, kHeads = 2, kElements = 6;

struct Attention : testing::Test {
  ParameterLayout layout;
  SetAttention attention{layout, "a", kIn, kWide, kKey, kHeads};
  Generator rng{13};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> x = random_vector(rng, kIn* kElements);
  Segments sets{{0, 3, 3, 4, 6}};  // one is empty, one holds a single element

  Vector<double> forward(const Vector<double>& p, const Vector<double>& v) const {
    Arena<double> arena;
    SetAttention::Cache<double> cache;
    attention.forward(p.data(), sets, v.data(), arena, cache);
    return Eigen::Map<const Vector<double>>(cache.a, kHeads * kElements);
  }
};

TEST_F(Attention, EqualsTheDefinition) {
  const NamedWeights weight(layout, params);
  const auto layer = [&](const std::string& name, const Vector<double>& in) {
    Vector<double> out(kWide);
    for (Index o = 0; o < kWide; ++o) {
      out[o] = weight(name + ".bias", o);
      for (Index i = 0; i < in.size(); ++i) out[o] += weight(name + ".weight", o, i) * in[i];
    }
    return Vector<double>(out.cwiseMax(0.0));
  };
  Vector<double> expected(kHeads * kElements);
  for (Index s = 0; s < sets.sets(); ++s) {
    if (sets.size(s) == 0) continue;
    Vector<double> mean = Vector<double>::Zero(kWide);
    const Index begin = sets.first[static_cast<std::size_t>(s)], end = begin + sets.size(s);
    for (Index j = begin; j < end; ++j)
      mean += layer("a.psi.1", layer("a.psi.0", x.segment(j * kIn, kIn))) /
              static_cast<double>(sets.size(s));
    const Vector<double> f = layer("a.rho", mean);
    for (Index m = 0; m < kHeads; ++m) {
      double sum = 0;
      for (Index j = begin; j < end; ++j) {
        double score = 0;
        for (Index a = m * kKey; a < (m + 1) * kKey; ++a) {
          double q = weight("a.query.bias", a), k = 0;
          for (Index i = 0; i < kWide; ++i) q += weight("a.query.weight", a, i) * f[i];
          for (Index i = 0; i < kIn; ++i) k += weight("a.keys.weight", a, i) * x[j * kIn + i];
          score += q * k / std::sqrt(static_cast<double>(kKey));
        }
        expected[j * kHeads + m] = std::exp(score);
        sum += std::exp(score);
      }
      for (Index j = begin; j < end; ++j) expected[j * kHeads + m] /= sum;
    }
  }
  expect_equal(forward(params, x), expected);
}

TEST_F(Attention, BackwardEqualsDifferences) {
  const Vector<double> c = random_vector(rng, kHeads * kElements);
  Arena<double> arena;
  SetAttention::Cache<double> cache;
  attention.forward(params.data(), sets, x.data(), arena, cache);
  Vector<double> d_a = c, d_x(x.size()), grads = Vector<double>::Constant(layout.size(), 2);
  attention.backward(params.data(), sets, x.data(), d_a.data(), cache, arena, d_x.data(),
                     grads.data());
  expect_gradients([&](const auto& p, const auto& v) { return forward(p, v); }, params, x, c, d_x,
                   grads, 2);
}

// A single element has all the attention, and elements of other sets have no say.
TEST_F(Attention, StaysInsideItsSet) {
  const Vector<double> before = forward(params, x);
  for (Index m = 0; m < kHeads; ++m) EXPECT_EQ(before[3 * kHeads + m], 1.0);
  Vector<double> moved = x;
  moved.segment(0, kIn).setConstant(9);
  const Vector<double> after = forward(params, moved);
  EXPECT_NE(after.head(3 * kHeads), before.head(3 * kHeads));
  EXPECT_EQ(after.tail(3 * kHeads), before.tail(3 * kHeads));
}

TEST_F(Attention, StartsAsTheMean) {
  const Vector<double> start = layout.initial<double>(1);
  const Vector<double> a = forward(start, x);
  for (Index i = 0; i < 3 * kHeads; ++i) EXPECT_NEAR(a[i], 1.0 / 3, 1e-15);
  for (Index i = 4 * kHeads; i < 6 * kHeads; ++i) EXPECT_NEAR(a[i], 0.5, 1e-15);
}

TEST_F(Attention, NoSetAtAllIsNoWork) {
  sets = {};
  Arena<double> arena;
  SetAttention::Cache<double> cache;
  attention.forward(params.data(), sets, x.data(), arena, cache);
  Vector<double> grads = Vector<double>::Zero(layout.size()), d_x;
  attention.backward(params.data(), sets, x.data(), cache.a, cache, arena, d_x.data(),
                     grads.data());
  EXPECT_TRUE(grads.isZero(0));
}

}  // namespace
}  // namespace edict
