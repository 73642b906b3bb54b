#include "nn/mlp.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kIn = 3, kWide = 4, kColumns = 5;

struct Layers : testing::TestWithParam<int> {
  ParameterLayout layout;
  Mlp mlp{layout, "mlp", kIn, kWide, GetParam()};
  Generator rng{8};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> x = random_vector(rng, kIn* kColumns);
  // One mask a layer.
  std::vector<Vector<double>> drawn = masks();

  std::vector<Vector<double>> masks() const {
    std::vector<Vector<double>> result;
    Generator draws(9);
    for (int i = 0; i < GetParam(); ++i) {
      result.emplace_back(kWide * kColumns);
      Dropout(0.4).draw(draws, kWide * kColumns, result.back().data());
    }
    return result;
  }
  std::vector<double*> pointers(bool dropout) {
    std::vector<double*> result;
    for (auto& mask : drawn)
      if (dropout) result.push_back(mask.data());
    return result;
  }
  Vector<double> forward(const Vector<double>& p, const Vector<double>& v, bool dropout) {
    Arena<double> arena;
    Mlp::Cache<double> cache;
    mlp.forward(p.data(), kColumns, v.data(), pointers(dropout), arena, cache);
    return Eigen::Map<const Vector<double>>(cache.y.back(), kWide * kColumns);
  }
};

TEST_P(Layers, EqualTheSumsByHand) {
  EXPECT_EQ(mlp.depth(), GetParam());
  const NamedWeights weight(layout, params);
  for (const bool dropout : {false, true}) {
    Vector<double> expected(kWide * kColumns);
    for (Index c = 0; c < kColumns; ++c) {
      Vector<double> in = x.segment(c * kIn, kIn);
      for (int layer = 0; layer < GetParam(); ++layer) {
        const std::string name = "mlp." + std::to_string(layer);
        Vector<double> out(kWide);
        for (Index o = 0; o < kWide; ++o) {
          double sum = weight(name + ".bias", o);
          for (Index i = 0; i < in.size(); ++i) sum += weight(name + ".weight", o, i) * in[i];
          out[o] = std::max(sum, 0.0) *
                   (dropout ? drawn[static_cast<std::size_t>(layer)][c * kWide + o] : 1.0);
        }
        in = out;
      }
      expected.segment(c * kWide, kWide) = in;
    }
    expect_equal(forward(params, x, dropout), expected);
  }
}

TEST_P(Layers, BackwardEqualsDifferencesWithAndWithoutDropout) {
  const Vector<double> c = random_vector(rng, kWide * kColumns);
  for (const bool dropout : {false, true}) {
    Arena<double> arena;
    Mlp::Cache<double> cache;
    Vector<double> d_y = c, d_x(x.size()), grads = Vector<double>::Constant(layout.size(), 3);
    mlp.forward(params.data(), kColumns, x.data(), pointers(dropout), arena, cache);
    mlp.backward(params.data(), kColumns, d_y.data(), cache, arena, d_x.data(), grads.data());
    expect_gradients([&](const auto& p, const auto& v) { return forward(p, v, dropout); }, params,
                     x, c, d_x, grads, 3);
    // Nobody may need the gradient of the input: that of the parameters stays the same.
    Vector<double> weights_only = Vector<double>::Constant(layout.size(), 3);
    d_y = c;
    mlp.backward(params.data(), kColumns, d_y.data(), cache, arena, static_cast<double*>(nullptr),
                 weights_only.data());
    EXPECT_EQ(weights_only, grads);
  }
}

INSTANTIATE_TEST_SUITE_P(Depths, Layers, testing::Values(1, 2, 3));

}  // namespace
}  // namespace edict
