// The engine against a plain PyTorch EDICT with the same weights (golden/write_golden.py): every
// loss and every gradient, for many patterns of observation, solvers and forms of the loss.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "engine/golden_case.h"
#include "engine/training_pass.h"

namespace edict {
namespace {

using nlohmann::json;

struct Tolerance {
  double loss, gradient;
};

void expect_close(double actual, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(actual, expected, tolerance * std::max(1.0, std::abs(expected))) << what;
}

// A gradient entry is held against the largest of its tensor: a single one may be near zero.
template <class S>
void expect_gradients(const ParameterLayout& layout, const Vector<S>& grads, const json& expected,
                      double tolerance, const std::string& name) {
  ASSERT_EQ(expected.size(), layout.tensors().size());
  for (const Tensor& tensor : layout.tensors()) {
    const auto reference = expected.at(tensor.name).get<std::vector<double>>();
    ASSERT_EQ(reference.size(), static_cast<std::size_t>(tensor.size)) << tensor.name;
    double largest = 1e-3, error = 0;
    for (Index i = 0; i < tensor.size; ++i) {
      const double value = reference[static_cast<std::size_t>(i)];
      largest = std::max(largest, std::abs(value));
      error = std::max(error, std::abs(static_cast<double>(grads[tensor.offset + i]) - value));
    }
    EXPECT_LE(error, tolerance * largest) << name << ", " << tensor.name;
  }
}

template <class S>
void expect_golden(const json& golden, const json& c, const Tolerance& tolerance) {
  const std::string name = c.at("name");
  const json& shape = golden.at("shapes").at(c.at("shape").get<std::string>());
  Config config = golden_config(shape, c.at("config"));
  if (std::is_same_v<S, float>)  // single precision cannot meet the tolerance asked of double
    config.model.rtol = config.model.atol = std::max(config.model.rtol, 1e-6);
  const JumpOde<NiwHead> model = golden_model(config, shape);
  const Vector<S> params = golden_weights<S>(model.layout, shape.at("weights"));
  const auto timelines = golden_timelines<S>(c.at("series"));
  std::vector<BasicExample<S>> examples;
  for (const auto& timeline : timelines) examples.push_back({&timeline});

  Vector<S> grads = Vector<S>::Zero(model.layout.size());
  TrainingPass<S, NiwHead> pass(model);
  const LossSums sums =
      pass.train(params.data(), examples, {1.0, config.loss.kl, config.loss.evidence},
                 std::size_t{1} << 30, grads.data());
  expect_close(sums.nll, c.at("nll"), tolerance.loss, name + ", nll");
  expect_close(sums.kl, c.at("kl"), tolerance.loss, name + ", kl");
  expect_close(sums.evidence, c.at("evidence"), tolerance.loss, name + ", evidence");
  expect_gradients(model.layout, grads, c.at("gradient"), tolerance.gradient, name);
}

TEST(TrainingPassGolden, DoubleEqualsPyTorch) {
  const json golden = read_golden();
  for (const json& c : golden.at("cases")) expect_golden<double>(golden, c, {1e-10, 1e-8});
}

TEST(TrainingPassGolden, FloatEqualsPyTorchInDouble) {
  const json golden = read_golden();
  for (const json& c : golden.at("cases")) expect_golden<float>(golden, c, {1e-4, 1e-4});
}

// The two tests above are worth what the file covers.
TEST(TrainingPassGolden, EverySettingOccurs) {
  const json golden = read_golden();
  std::set<std::string> seen;
  bool empty = false, forecast = false;
  for (const json& c : golden.at("cases")) {
    for (const char* key : {"model.solver", "model.surprise", "loss.kl_form"})
      seen.insert(c.at("config").at(key).get<std::string>());
    for (const json& series : c.at("series")) {
      empty |= series.at("events").empty();
      for (const json& event : series.at("events")) forecast |= !event.at("absorb").get<bool>();
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"euler", "midpoint", "rk4", "dopri5", "epistemic",
                                         "predictive", "niw", "gaussian"}));
  EXPECT_TRUE(empty);
  EXPECT_TRUE(forecast);
  EXPECT_GE(golden.at("cases").size(), 20u);
}

}  // namespace
}  // namespace edict
