// What is asked does not change what is answered, and what is not finite is not answered at all.
#include "model/infer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "data/subset.h"
#include "engine/small_model.h"
#include "engine/variant.h"

namespace edict {
namespace {

Model model_with(const std::string& variant) {
  Config config = small_synthetic_config();
  set_variant(config, variant);
  config.model.step = 0.3;
  return untrained_model(small_synthetic(), config);
}

std::vector<Marginal> asked(const Model& model, std::size_t series,
                            const std::vector<double>& times) {
  const Timeline<float> timeline = query_timeline(model.protocol, small_synthetic(), series, times);
  ThreadPool pool(1);
  return infer(model, examples_of(std::span(&timeline, 1)), pool, {})[0].marginals;
}

class Query : public testing::TestWithParam<std::string> {};

TEST_P(Query, AtMoreTimesChangesNoAnswer) {
  const Model model = model_with(GetParam());
  std::vector<double> grid;
  for (int i = 0; i <= 1200; ++i) grid.push_back(0.01 * i);
  for (std::size_t series = 0; series < 4; ++series) {
    const auto many = asked(model, series, grid);
    for (const std::size_t k : {0u, 1u, 29u, 30u, 31u, 600u, 1199u, 1200u}) {
      const auto one = asked(model, series, {grid[k]});
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_EQ(one[j].mean, many[3 * k + j].mean) << grid[k];
        EXPECT_EQ(one[j].scale, many[3 * k + j].scale) << grid[k];
      }
    }
  }
}

// What comes later has no part in it either.
TEST_P(Query, BeforeAnEventDoesNotDependOnIt) {
  const Model model = model_with(GetParam());
  Dataset whole;
  whole.features = small_synthetic().features;
  whole.add_series("s");
  for (const double time : {0.4, 1.9, 5.0}) {
    whole.add_event(time);
    whole.add_observation(0, std::sin(time));
  }
  const Dataset start = subset(whole, std::vector<std::size_t>{0}, 1.0);
  ThreadPool pool(1);
  const auto first_query = [&](const Dataset& data) {
    const Timeline<float> timeline = query_timeline(model.protocol, data, 0, {1.85});
    return infer(model, examples_of(std::span(&timeline, 1)), pool, {})[0].marginals;
  };
  const auto with = first_query(whole), without = first_query(start);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(with[j].mean, without[j].mean);
    EXPECT_EQ(with[j].scale, without[j].scale);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Query, testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param; });

std::string refusal(const Model& model, const Timeline<float>& timeline) {
  ThreadPool pool(1);
  return refusal_of([&] { infer(model, examples_of(std::span(&timeline, 1)), pool, {}); });
}

TEST(Infer, AStateThatIsNotFiniteIsAnErrorWithSeriesTimeAndFeature) {
  Model model = model_with("euler");
  const Timeline<float> timeline = query_timeline(model.protocol, small_synthetic(), 2, {7.0});
  for (const Tensor& tensor : model.network->layout().tensors()) {
    if (tensor.name.starts_with("classifier")) continue;
    Model broken = model_with("euler");
    broken.first().params[tensor.offset] = std::numeric_limits<float>::quiet_NaN();
    const std::string said = refusal(broken, timeline);
    EXPECT_NE(said.find("series " + small_synthetic().ids[2]), std::string::npos)
        << tensor.name << ": " << said;
    EXPECT_NE(said.find("not finite"), std::string::npos) << tensor.name << ": " << said;
    EXPECT_NE(said.find("'x"), std::string::npos) << tensor.name << ": " << said;
  }
}

TEST(Infer, TimeThatRunsBackwardsIsAnError) {
  const Model model = model_with("euler");
  Timeline<float> timeline;
  timeline.id = "s";
  timeline.stop(2.0, Timeline<float>::kQuery);
  timeline.stop(1.0, Timeline<float>::kQuery);
  EXPECT_NE(refusal(model, timeline).find("comes before"), std::string::npos);
  timeline.clear(3.0);
  timeline.stop(2.0, Timeline<float>::kQuery);
  EXPECT_NE(refusal(model, timeline).find("comes before"), std::string::npos);
}

TEST(Infer, LeavesWhenTold) {
  const Model model = model_with("euler");
  const Timeline<float> timeline = query_timeline(model.protocol, small_synthetic(), 2, {7.0});
  const std::atomic<bool> stop = true;
  InferenceOptions options;
  options.stop = &stop;
  ThreadPool pool(1);
  EXPECT_THROW(infer(model, examples_of(std::span(&timeline, 1)), pool, options), Interrupted);
}

}  // namespace
}  // namespace edict
