#include "nn/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/gru_cell.h"
#include "nn/gru_ode_cell.h"
#include "nn/mlp_bank.h"

namespace edict {
namespace {

const Tensor& named(const ParameterLayout& layout, const std::string& name) {
  for (const Tensor& tensor : layout.tensors())
    if (tensor.name == name) return tensor;
  throw std::out_of_range("no tensor " + name);
}

TEST(ParameterLayout, TensorsFollowEachOtherWithoutGaps) {
  ParameterLayout layout;
  EXPECT_EQ(layout.add("a", {3, 4}, Start::constant(0)), 0);
  EXPECT_EQ(layout.add("b", {5}, Start::constant(0)), 12);
  EXPECT_EQ(layout.add("c", {2, 4, 3}, Start::constant(0)), 17);
  EXPECT_EQ(layout.size(), 41);
  Index next = 0;
  for (const Tensor& tensor : layout.tensors()) {
    EXPECT_EQ(tensor.offset, next) << tensor.name;
    next += tensor.size;
  }
  EXPECT_EQ(next, layout.size());
}

// The stacked products read two or more tensors as one matrix.
TEST(ParameterLayout, StackedWeightsAreContiguous) {
  ParameterLayout layout;
  GruOdeCell cell(layout, "ode", 7);
  EXPECT_EQ(named(layout, "ode.w_z").offset, named(layout, "ode.w_r").offset + 49);
  MlpBank bank(layout, "head", 7, 3, {{"mu", 2}, {"psi", 2}, {"nu", 1}});
  EXPECT_EQ(named(layout, "head.psi.0.weight").offset,
            named(layout, "head.mu.0.weight").offset + 21);
  EXPECT_EQ(named(layout, "head.nu.0.weight").offset,
            named(layout, "head.psi.0.weight").offset + 21);
  EXPECT_EQ(named(layout, "head.psi.0.bias").offset, named(layout, "head.mu.0.bias").offset + 3);
  EXPECT_EQ(named(layout, "head.nu.0.bias").offset, named(layout, "head.psi.0.bias").offset + 3);
}

struct Moments {
  double mean = 0, deviation = 0, low = 0, high = 0, fourth = 0;
};
Moments moments(const Vector<double>& values, const Tensor& tensor) {
  const auto x = values.segment(tensor.offset, tensor.size).array();
  Moments m;
  m.mean = x.mean();
  m.deviation = std::sqrt((x - m.mean).square().mean());
  m.fourth = (x - m.mean).pow(4).mean() / std::pow(m.deviation, 4);
  m.low = x.minCoeff(), m.high = x.maxCoeff();
  return m;
}

// 40,000 draws: four standard errors of the mean are 0.02 deviations, of the deviation at most
// 0.015; the fourth moment tells uniform (1.8) from normal (3, four standard errors 0.1).
TEST(ParameterLayout, InitialValuesHaveTheirDistribution) {
  ParameterLayout layout;
  layout.add("uniform", {200, 200}, Start::uniform(0.3));
  layout.add("normal", {200, 200}, Start::normal(2.0));
  layout.add("xavier", {100, 400}, Start::xavier(100, 400));
  layout.add("constant", {100}, Start::constant(0.05));
  const Vector<double> values = layout.initial<double>(1);

  const Moments uniform = moments(values, named(layout, "uniform"));
  EXPECT_NEAR(uniform.mean, 0, 0.02 * 0.3 / std::sqrt(3));
  EXPECT_NEAR(uniform.deviation, 0.3 / std::sqrt(3), 0.015 * 0.3 / std::sqrt(3));
  EXPECT_NEAR(uniform.fourth, 1.8, 0.03);
  EXPECT_GE(uniform.low, -0.3);
  EXPECT_LE(uniform.high, 0.3);

  const Moments normal = moments(values, named(layout, "normal"));
  EXPECT_NEAR(normal.mean, 0, 0.02 * 2);
  EXPECT_NEAR(normal.deviation, 2, 0.015 * 2);
  EXPECT_NEAR(normal.fourth, 3, 0.1);

  const double bound = std::sqrt(6.0 / 500);
  const Moments xavier = moments(values, named(layout, "xavier"));
  EXPECT_LE(xavier.high, bound);
  EXPECT_GT(xavier.high, 0.999 * bound);

  const Moments constant = moments(values, named(layout, "constant"));
  EXPECT_EQ(constant.low, 0.05);
  EXPECT_EQ(constant.high, 0.05);
}

TEST(ParameterLayout, LayersStartAsPublished) {
  ParameterLayout layout;
  Linear linear(layout, "l", 300, 300);
  GruCell gru(layout, "g", 100, 100);
  const Vector<double> values = layout.initial<double>(2);
  EXPECT_EQ(moments(values, named(layout, "l.bias")).low, 0.05);
  EXPECT_NEAR(moments(values, named(layout, "l.weight")).high, 0.1, 1e-4);  // √(6/600)
  EXPECT_NEAR(moments(values, named(layout, "g.w_hh")).high, 0.1, 1e-3);    // 1/√H
  EXPECT_NEAR(moments(values, named(layout, "g.b_ih")).deviation, 0.1 / std::sqrt(3), 0.01);
}

TEST(ParameterLayout, SameSeedSameBitsAndOtherSeedOthers) {
  ParameterLayout layout;
  layout.add("a", {10, 10}, Start::uniform(1));
  EXPECT_EQ(layout.initial<double>(3), layout.initial<double>(3));
  EXPECT_NE(layout.initial<double>(3), layout.initial<double>(4));
  EXPECT_EQ(layout.initial<float>(3), layout.initial<double>(3).cast<float>());
}

// A tensor draws by its name: another before, between or after the others, or another order,
// changes none of them.
TEST(ParameterLayout, AddingATensorLeavesTheOthersUnchanged) {
  const auto of = [](const std::vector<std::string>& names) {
    ParameterLayout layout;
    for (const std::string& name : names)
      layout.add(name, {5, 2}, name == "b" ? Start::normal(1) : Start::uniform(1));
    return layout;
  };
  const ParameterLayout small = of({"a", "b"});
  const Vector<double> expected = small.initial<double>(5);
  EXPECT_NE(expected.head(10), expected.tail(10));
  for (const auto& names : {std::vector<std::string>{"a", "b", "c"},
                            {"a", "c", "b"},
                            {"c", "a", "b"},
                            {"c", "b", "d", "a"}}) {
    const ParameterLayout large = of(names);
    const Vector<double> values = large.initial<double>(5);
    for (const char* name : {"a", "b"})
      EXPECT_EQ(values.segment(named(large, name).offset, 10),
                expected.segment(named(small, name).offset, 10))
          << name << " of " << testing::PrintToString(names);
    EXPECT_NE(values.segment(named(large, "c").offset, 10),
              values.segment(named(large, "a").offset, 10))
        << "two tensors draw the same";
  }
}

}  // namespace
}  // namespace edict
