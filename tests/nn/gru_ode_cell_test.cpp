#include "nn/gru_ode_cell.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kHidden = 5, kWidth = 3;

struct GruOde : testing::Test {
  ParameterLayout layout;
  GruOdeCell cell{layout, "ode", kHidden};
  Generator rng{2};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> h = random_vector(rng, kHidden* kWidth);

  Vector<double> forward(const Vector<double>& p, const Vector<double>& v) const {
    Arena<double> arena;
    Vector<double> y(kHidden * kWidth);
    Vector<double> transposed = p;
    cell.transpose(p.data(), transposed.data());
    cell.forward(Transposed<double>{transposed.data()}, kWidth, cell.cache(arena, v.data(), kWidth),
                 y.data());
    return y;
  }
};

// r = σ(W_r h), z = σ(W_z h), u = tanh(W_u (r∘h)), dh/dt = (1 − z)∘(u − h), entry by entry.
TEST_F(GruOde, EqualsTheEquations) {
  const NamedWeights weight(layout, params);
  Vector<double> expected(kHidden * kWidth);
  for (Index c = 0; c < kWidth; ++c) {
    const double* const x = h.data() + c * kHidden;
    const auto gate = [&](const char* name, Index i) {
      double sum = 0;
      for (Index j = 0; j < kHidden; ++j) sum += weight(name, i, j) * x[j];
      return 1 / (1 + std::exp(-sum));
    };
    for (Index i = 0; i < kHidden; ++i) {
      double sum = 0;
      for (Index j = 0; j < kHidden; ++j)
        sum += weight("ode.w_u", i, j) * gate("ode.w_r", j) * x[j];
      expected[c * kHidden + i] = (1 - gate("ode.w_z", i)) * (std::tanh(sum) - x[i]);
    }
  }
  expect_equal(forward(params, h), expected);
}

TEST_F(GruOde, BackwardEqualsDifferences) {
  const Vector<double> c = random_vector(rng, kHidden * kWidth);
  Arena<double> arena;
  const auto cache = cell.cache(arena, h.data(), kWidth);
  Vector<double> y(kHidden * kWidth), d_h = Vector<double>::Zero(kHidden * kWidth);
  Vector<double> grads = Vector<double>::Constant(layout.size(), -2);
  Vector<double> transposed = params, r_h(h.size());
  cell.transpose(params.data(), transposed.data());
  cell.forward(Transposed<double>{transposed.data()}, kWidth, cache, y.data());
  cell.backward(params.data(), kWidth, c.data(), cache, r_h.data(), d_h.data(), grads.data());
  expect_gradients([&](const auto& p, const auto& v) { return forward(p, v); }, params, h, c, d_h,
                   grads, -2);
}

// The drift pulls h into (−1, 1) and never lets it grow (De Brouwer et al. 2019, section 2.2).
TEST_F(GruOde, DriftPointsInwards) {
  const Vector<double> far = 5 * h.cwiseSign();
  const Vector<double> slope = forward(params, far);
  for (Index i = 0; i < far.size(); ++i) EXPECT_LE(slope[i] * far[i], 0) << i;
}

}  // namespace
}  // namespace edict
