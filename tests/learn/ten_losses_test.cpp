// The first ten training losses, with clipping and Adam, against PyTorch's from equal weights.
#include <gtest/gtest.h>

#include <limits>

#include "engine/golden_case.h"
#include "engine/heads/niw_head.h"
#include "engine/training_pass.h"
#include "learn/adam.h"

namespace edict {
namespace {

// Our Adam runs in float; float rounding over ten steps leaves five digits.
TEST(TenLosses, EqualPyTorchs) {
  const nlohmann::json golden = read_golden();
  const nlohmann::json& t = golden.at("ten_losses");
  const nlohmann::json& shape = golden.at("shapes").at(t.at("shape").get<std::string>());
  const Config config = golden_config(shape, t.at("config"));
  const JumpOde<NiwHead> model = golden_model(config, shape);
  Vector<float> params = golden_weights<float>(model.layout, shape.at("weights"));
  const auto timelines = golden_timelines<float>(t.at("series"));
  std::vector<Example> examples;
  double observations = 0;
  for (const auto& timeline : timelines) {
    examples.push_back({&timeline});
    observations += static_cast<double>(timeline.feature.size());
  }
  const LossWeights weights{1.0 / observations, config.loss.kl, config.loss.evidence};
  TrainingPass<float, NiwHead> pass(model);
  Adam adam(model.layout.size());
  ASSERT_EQ(t.at("losses").size(), 10u);
  for (const double expected : t.at("losses")) {
    Vector<float> grads = Vector<float>::Zero(model.layout.size());
    const LossSums sums =
        pass.train(params.data(), examples, weights, std::size_t{1} << 30, grads.data());
    const double loss =
        weights.scale * (sums.nll + weights.kl * sums.kl + weights.evidence * sums.evidence);
    EXPECT_NEAR(loss, expected, 1e-5 * std::abs(expected));
    clip_gradient(t.at("clip"), 0.0, grads);
    adam.step(grads, t.at("learning_rate"), 0.0, params);
  }
  for (const Tensor& tensor : model.layout.tensors())
    for (Index i = 0; i < tensor.size; ++i)
      EXPECT_NEAR(params[tensor.offset + i], t.at("final").at(tensor.name).at(i).get<double>(),
                  2e-4)
          << tensor.name;
}

}  // namespace
}  // namespace edict
