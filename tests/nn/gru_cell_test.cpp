#include "nn/gru_cell.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kIn = 4, kHidden = 5, kWidth = 3;

// The input product is the caller's; here it is a dense one, and [x; h] is the layer's input.
struct Gru : testing::Test {
  ParameterLayout layout;
  GruCell cell{layout, "g", kIn, kHidden};
  Generator rng{3};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> input = random_vector(rng, (kIn + kHidden) * kWidth);

  Vector<double> input_product(const Vector<double>& p, const double* x) const {
    Vector<double> gi(3 * kHidden * kWidth);
    multiply(p.data() + cell.input_weights(), 3 * kHidden, kIn, x, kWidth, gi.data());
    return gi;
  }
  Vector<double> forward(const Vector<double>& p, const double* x,
                         const GruCell::Cache<double>& cache) const {
    Vector<double> transposed = p, h_next(kHidden * kWidth);
    cell.transpose(p.data(), transposed.data());
    cell.forward(Transposed<double>{transposed.data()}, kWidth, input_product(p, x).data(), cache,
                 h_next.data());
    return h_next;
  }
  Vector<double> forward(const Vector<double>& p, const Vector<double>& v) const {
    Arena<double> arena;
    return forward(p, v.data(), cell.cache(arena, v.data() + kIn * kWidth, kWidth));
  }
};

// torch.nn.GRUCell as documented: gates in the order r, z, n, two biases, and r applied to
// W_hn h + b_hn rather than to h.
TEST_F(Gru, EqualsPyTorchsEquations) {
  const NamedWeights weight(layout, params);
  Vector<double> expected(kHidden * kWidth);
  for (Index c = 0; c < kWidth; ++c) {
    const double* const x = input.data() + c * kIn;
    const double* const h = input.data() + kIn * kWidth + c * kHidden;
    const auto from_x = [&](Index row) {
      double sum = weight("g.b_ih", row);
      for (Index j = 0; j < kIn; ++j) sum += weight("g.w_ih", row, j) * x[j];
      return sum;
    };
    const auto from_h = [&](Index row) {
      double sum = weight("g.b_hh", row);
      for (Index j = 0; j < kHidden; ++j) sum += weight("g.w_hh", row, j) * h[j];
      return sum;
    };
    for (Index i = 0; i < kHidden; ++i) {
      const double r = 1 / (1 + std::exp(-from_x(i) - from_h(i)));
      const double z = 1 / (1 + std::exp(-from_x(kHidden + i) - from_h(kHidden + i)));
      const double n = std::tanh(from_x(2 * kHidden + i) + r * from_h(2 * kHidden + i));
      expected[c * kHidden + i] = (1 - z) * n + z * h[i];
    }
  }
  expect_equal(forward(params, input), expected);
}

TEST_F(Gru, BackwardEqualsDifferences) {
  const Vector<double> c = random_vector(rng, kHidden * kWidth);
  const double* const x = input.data();
  Arena<double> arena;
  const auto cache = cell.cache(arena, x + kIn * kWidth, kWidth);
  Vector<double> d_gh(3 * kHidden * kWidth), d_input(input.size());
  Vector<double> grads = Vector<double>::Constant(layout.size(), 3);
  forward(params, x, cache);
  cell.backward(params.data(), kWidth, c.data(), cache, d_input.data() + kIn * kWidth, d_gh.data(),
                grads.data());
  accumulate_outer(cache.rzn, 3 * kHidden, x, kIn, kWidth, grads.data() + cell.input_weights());
  multiply_transposed(params.data() + cell.input_weights(), 3 * kHidden, kIn, cache.rzn, kWidth,
                      d_input.data());
  expect_gradients([&](const auto& p, const auto& v) { return forward(p, v); }, params, input, c,
                   d_input, grads, 3);
}

}  // namespace
}  // namespace edict
