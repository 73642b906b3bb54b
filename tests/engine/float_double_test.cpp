// float computes and double is the second opinion: the same parameters, series and code in both.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/finite_difference.h"
#include "engine/heads/niw_head.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"
#include "engine/variant.h"

namespace edict {
namespace {

constexpr Index kComparedHidden = 16, kComparedFeatures = 4;

struct Forward {
  std::vector<double> states;  // at the end of each series
  LossSums sums;
};

template <class S>
Forward forward(const JumpOde<NiwHead>& model, const Vector<S>& params,
                const std::vector<Timeline<S>>& timelines) {
  std::vector<BasicExample<S>> examples;
  for (const auto& timeline : timelines) examples.push_back({&timeline});
  Forward result;
  Vector<S> grads = Vector<S>::Zero(model.layout.size());
  result.sums = TrainingPass<S, NiwHead>(model).train(
      params.data(), examples, {1.0, 0.3, 0.05}, std::size_t{1} << 30, grads.data(),
      [&](const S* h, S* d_h) {
        const auto count = static_cast<std::size_t>(kComparedHidden) * timelines.size();
        result.states.assign(h, h + count);
        std::fill_n(d_h, count, S{0});
      });
  return result;
}

// The same numbers: a float is a double.
Timeline<double> in_double(const Timeline<float>& timeline) {
  Timeline<double> result;
  result.id = timeline.id;
  result.start = timeline.start;
  for (const auto& stop : timeline.stops)
    result.stops.push_back({stop.time, stop.first, stop.count, stop.what});
  result.feature = timeline.feature;
  result.value.assign(timeline.value.begin(), timeline.value.end());
  result.covariates.assign(timeline.covariates.begin(), timeline.covariates.end());
  return result;
}

class FloatAndDouble : public testing::TestWithParam<std::string> {};

// A state lies within ±1 and comes of a few products of depth H and functions of them, each within
// (H + 10) units of rounding of what double says. What came before is forgotten as fast as the flow
// contracts, so that errors do not grow with the length of a series: eight products' worth is
// allowed, of a state and of the mean loss of an observation. An error of formula, or a sum in the
// wrong order that cancels, is far beyond it.
TEST_P(FloatAndDouble, SayTheSame) {
  Config config;
  config.model.hidden = kComparedHidden;
  config.model.head_hidden = 8;
  config.model.encoder_width = 6;
  config.model.step = 0.1;
  set_variant(config, GetParam());
  const JumpOde<NiwHead> model(network_settings(config), kComparedFeatures, 2);

  const double unit = std::numeric_limits<float>::epsilon() / 2,
               bound = 8 * (kComparedHidden + 10) * unit;
  double worst_state = 0, worst_nll = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Generator rng(seed);
    std::vector<Timeline<float>> timelines;
    std::vector<Timeline<double>> same;
    for (const int events : {40, 1, 7, 0, 15}) {
      timelines.push_back(random_timeline<float>(rng, kComparedFeatures, events, 0.3, 0.5));
      same.push_back(in_double(timelines.back()));
    }
    const Vector<float> params = moved_parameters<float>(model.layout, seed);
    const Forward narrow = forward<float>(model, params, timelines),
                  wide = forward<double>(model, params.cast<double>(), same);
    ASSERT_EQ(narrow.states.size(), wide.states.size());
    for (std::size_t i = 0; i < wide.states.size(); ++i)
      worst_state = std::max(worst_state, std::abs(narrow.states[i] - wide.states[i]));
    ASSERT_EQ(narrow.sums.observations, wide.sums.observations);
    worst_nll =
        std::max(worst_nll, std::abs(narrow.sums.nll - wide.sums.nll) / wide.sums.observations);
  }
  RecordProperty("largest_difference_of_a_state", fmt::format("{:.2g}", worst_state));
  RecordProperty("largest_difference_of_the_mean_loss", fmt::format("{:.2g}", worst_nll));
  EXPECT_LT(worst_state, bound);
  EXPECT_LT(worst_nll, bound);
  EXPECT_GT(worst_state, 0) << "both computed in the same precision";
}

INSTANTIATE_TEST_SUITE_P(Variants, FloatAndDouble, testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param; });

}  // namespace
}  // namespace edict
