#include "nn/gru_sequence.h"

#include <vector>

#include "nn/gradient_check.h"

namespace edict {
namespace {

// Sequences of length 1, 4, 0, 2 become columns without any padding.
TEST(Packing, LongestFirstWithoutPadding) {
  const Packing packing({1, 4, 0, 2});
  EXPECT_EQ(packing.sequences(), 4);
  EXPECT_EQ(packing.steps(), 4);
  EXPECT_EQ(packing.columns(), 7);
  const std::vector<Index> active{packing.active(0), packing.active(1), packing.active(2),
                                  packing.active(3)};
  EXPECT_EQ(active, (std::vector<Index>{3, 2, 1, 1}));
  EXPECT_EQ(packing.column(1, 0), 0);
  EXPECT_EQ(packing.column(3, 0), 1);
  EXPECT_EQ(packing.column(0, 0), 2);
  EXPECT_EQ(packing.column(1, 1), 3);
  EXPECT_EQ(packing.column(3, 1), 4);
  EXPECT_EQ(packing.column(1, 3), 6);
}

TEST(Packing, NothingToPack) {
  EXPECT_EQ(Packing().columns(), 0);
  EXPECT_EQ(Packing({0, 0}).steps(), 0);
  EXPECT_EQ(Packing({0, 0}).columns(), 0);
}

constexpr Index kIn = 2, kHidden = 3;
const std::vector<Index> kLengths{1, 4, 0, 2};

// [x ; decay] is the layer's input, the states of all steps are its output.
struct GruOverSequences : testing::Test {
  ParameterLayout layout;
  GruSequence gru{layout, "g", kIn, kHidden};
  Packing packing{kLengths};
  Index columns = packing.columns();
  Generator rng{3};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> input = random_vector(rng, (kIn + kHidden) * columns);
  Arena<double> arena;
  GruSequence::Cache<double> cache;

  Vector<double> forward(const Vector<double>& p, const Vector<double>& v) {
    Vector<double> h(kHidden * columns);
    arena.reset();
    gru.forward(p.data(), packing, v.data(), v.data() + kIn * columns, arena, cache, h.data());
    return h;
  }
};

// Cho et al. (2014), one sequence at a time: r applied to h rather than to U_n h.
TEST_F(GruOverSequences, EqualsTheEquations) {
  const NamedWeights weight(layout, params);
  const Vector<double> h = forward(params, input);
  Vector<double> expected(h.size()), last(kHidden * packing.sequences());
  gru.last(packing, h.data(), last.data());
  for (Index s = 0; s < packing.sequences(); ++s) {
    Vector<double> state = Vector<double>::Zero(kHidden);
    for (Index t = 0; t < packing.length(s); ++t) {
      const Index column = packing.column(s, t);
      const auto x = input.segment(column * kIn, kIn);
      state.array() *= input.segment(kIn * columns + column * kHidden, kHidden).array();
      const auto sum = [&](Index row, const Vector<double>& from) {
        double total = weight("g.b", row);
        for (Index j = 0; j < kIn; ++j) total += weight("g.w", row, j) * x[j];
        for (Index j = 0; j < kHidden; ++j) total += weight("g.u", row, j) * from[j];
        return total;
      };
      Vector<double> reset(kHidden), next(kHidden);
      for (Index i = 0; i < kHidden; ++i) reset[i] = state[i] / (1 + std::exp(-sum(i, state)));
      for (Index i = 0; i < kHidden; ++i) {
        const double z = 1 / (1 + std::exp(-sum(kHidden + i, state)));
        next[i] = (1 - z) * std::tanh(sum(2 * kHidden + i, reset)) + z * state[i];
      }
      expected.segment(column * kHidden, kHidden) = state = next;
    }
    expect_equal(last.segment(s * kHidden, kHidden), state);
  }
  expect_equal(h, expected);
}

TEST_F(GruOverSequences, BackwardEqualsDifferences) {
  const Vector<double> c = random_vector(rng, kHidden * columns);
  const Vector<double> h = forward(params, input);  // the cache points into it
  Vector<double> d_h = c, d_input(input.size());
  Vector<double> grads = Vector<double>::Constant(layout.size(), 3);
  gru.backward(params.data(), packing, d_h.data(), cache, arena, d_input.data(),
               d_input.data() + kIn * columns, grads.data());
  expect_gradients([&](const auto& p, const auto& v) { return forward(p, v); }, params, input, c,
                   d_input, grads, 3);
}

}  // namespace
}  // namespace edict
