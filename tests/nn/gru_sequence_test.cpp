#include "edict/nn/gru_sequence.h"

#include <gtest/gtest.h>

#include <vector>

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

// Against the cell, one sequence at a time.
TEST(GruSequence, EqualsTheCellStepByStep) {
  constexpr Index kIn = 2, kHidden = 3;
  ParameterLayout layout;
  const GruSequence gru(layout, "g", kIn, kHidden);
  ParameterLayout other;
  const GruCell cell(other, "g", kIn, kHidden);
  const Vector<double> params = layout.initial<double>(1);
  const std::vector<Index> lengths{1, 4, 0, 2};
  const Packing packing(lengths);
  Rng rng(2);
  std::vector<double> x, decay;
  for (Index i = 0; i < kIn * packing.columns(); ++i) x.push_back(rng.normal());
  for (Index i = 0; i < kHidden * packing.columns(); ++i) decay.push_back(rng.uniform());
  std::vector<double> h(static_cast<std::size_t>(kHidden * packing.columns())), last(4 * kHidden);
  Arena<double> arena;
  GruSequence::Cache<double> cache;
  gru.forward(params.data(), packing, x.data(), decay.data(), arena, cache, h.data());
  gru.last(packing, h.data(), last.data());
  for (Index s = 0; s < 4; ++s) {
    Vector<double> state = Vector<double>::Zero(kHidden), next(kHidden), gi(3 * kHidden);
    for (Index t = 0; t < lengths[static_cast<std::size_t>(s)]; ++t) {
      const Index column = packing.column(s, t);
      state.array() *= Eigen::Map<Eigen::Array<double, kHidden, 1>>(&decay[column * kHidden]);
      multiply(params.data() + cell.input_weights(), 3 * kHidden, kIn, &x[column * kIn], 1,
               gi.data());
      const auto c = cell.cache(arena, static_cast<const double*>(state.data()), 1);
      cell.forward(params.data(), 1, gi.data(), c, next.data());
      state = next;
    }
    for (Index i = 0; i < kHidden; ++i) EXPECT_NEAR(last[s * kHidden + i], state[i], 1e-14);
  }
}

}  // namespace
}  // namespace edict
