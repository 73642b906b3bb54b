// Batching is an arrangement of work and nothing else: a chunk of series gives the same losses and
// gradients as the series one at a time, and distributions and states of the same bits, whoever
// their neighbours are.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "engine/inference.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"
#include "engine/variant.h"

namespace edict {
namespace {

constexpr Index kBatchFeatures = 4;

// Sums over another order differ by rounding alone. Float adds what its short exponential and many
// small steps magnify.
template <class S>
constexpr double kTolerance = std::is_same_v<S, float> ? 1e-5 : 1e-12;

Config config_with(const std::string& variant) {
  Config config;
  config.model.hidden = 12;
  config.model.head_hidden = 5;
  config.model.encoder_width = 3;
  config.model.step = 0.1;
  set_variant(config, variant);
  config.loss.kl = 0.2;
  config.loss.evidence = 0.05;
  return config;
}

// Dense and sparse series, long and short, with equal times, tiny and long gaps, late starts,
// queries between and after the observations, and series that are never observed.
template <class S>
std::vector<Timeline<S>> many_patterns() {
  Generator rng(17);
  std::vector<Timeline<S>> timelines;
  for (int i = 0; i < 40; ++i) {
    const int events = i % 8 == 0 ? 0 : static_cast<int>(rng.below(9)) + 1;
    const double gap = i % 5 == 0 ? 1e-3 : (i % 7 == 0 ? 1.5 : 0.3);
    auto timeline = random_timeline<S>(rng, kBatchFeatures, events, gap, i % 3 == 0 ? 1.1 : 0.3);
    if (i % 4 == 1 && events > 1) timeline.stops[1].time = timeline.stops[0].time;
    if (i % 6 == 1) timeline.start = -0.37;
    for (auto& stop : timeline.stops) stop.what |= Timeline<S>::kQuery;
    if (i % 4 == 2 && events > 2)
      timeline.stops[2].what = Timeline<S>::kScore;  // judged, not absorbed
    const double last = timeline.stops.empty() ? timeline.start : timeline.stops.back().time;
    if (i % 2 == 0) timeline.stop(last + 0.25, Timeline<S>::kQuery);
    timelines.push_back(std::move(timeline));
  }
  return timelines;
}

template <class S>
struct Outcome {
  LossSums sums;
  Vector<S> grads;
  Matrix<S> states;             // at the end, H × series
  std::vector<Answer> answers;  // of every series
};

template <class S>
Outcome<S> pass_in_chunks(const JumpOde<NiwHead>& model, const Config& config,
                          const std::vector<Timeline<S>>& timelines,
                          const std::vector<std::size_t>& order, std::size_t width) {
  const Vector<S> params = model.layout.initial<double>(5).cast<S>();
  Vector<S> transposed;
  model.transpose(params.data(), transposed);
  TrainingPass<S, NiwHead> pass(model);
  Inference<S, NiwHead> inference(model);
  InferenceOptions options;
  options.states = options.final_states = true;
  Outcome<S> out{{},
                 Vector<S>::Zero(model.layout.size()),
                 Matrix<S>::Zero(model.hidden, static_cast<Index>(timelines.size())),
                 std::vector<Answer>(timelines.size())};
  for (std::size_t begin = 0; begin < order.size(); begin += width) {
    const std::size_t end = std::min(order.size(), begin + width);
    std::vector<BasicExample<S>> examples;
    for (std::size_t i = begin; i < end; ++i) examples.push_back({&timelines[order[i]], kForever});
    out.sums += pass.train(params.data(), examples, {0.5, config.loss.kl, config.loss.evidence},
                           std::size_t{1} << 30, out.grads.data(), [&](const S* h, S* d_h) {
                             for (std::size_t i = begin; i < end; ++i) {
                               const auto at = static_cast<Index>(i - begin) * model.hidden;
                               std::copy_n(h + at, model.hidden,
                                           out.states.col(static_cast<Index>(order[i])).data());
                               std::copy_n(h + at, model.hidden, d_h + at);
                             }
                           });
    std::vector<Answer> answers(end - begin);
    inference.run({transposed.data()}, examples, options, answers);
    for (std::size_t i = begin; i < end; ++i) out.answers[order[i]] = answers[i - begin];
  }
  return out;
}

template <class S>
void expect_same(const JumpOde<NiwHead>& model, const Outcome<S>& a, const Outcome<S>& b,
                 double tolerance) {
  const auto near = [&](double x, double y) {
    EXPECT_NEAR(x, y, tolerance * std::max(1.0, std::abs(x)));
  };
  near(a.sums.nll, b.sums.nll);
  near(a.sums.kl, b.sums.kl);
  near(a.sums.evidence, b.sums.evidence);
  near(a.sums.squared_error, b.sums.squared_error);
  EXPECT_EQ(a.sums.observations, b.sums.observations);
  EXPECT_EQ(a.sums.events, b.sums.events);
  EXPECT_EQ(a.sums.series, b.sums.series);
  for (const Tensor& tensor : model.layout.tensors()) {
    const auto x = a.grads.segment(tensor.offset, tensor.size);
    const auto y = b.grads.segment(tensor.offset, tensor.size);
    const double scale = std::max(1e-3, static_cast<double>(x.cwiseAbs().maxCoeff()));
    EXPECT_LE(static_cast<double>((x - y).cwiseAbs().maxCoeff()), tolerance * scale) << tensor.name;
  }
  EXPECT_EQ(a.states, b.states);
  for (std::size_t i = 0; i < a.answers.size(); ++i) {
    EXPECT_EQ(a.answers[i].states, b.answers[i].states) << "series " << i;
    EXPECT_EQ(a.answers[i].final_state, b.answers[i].final_state) << "series " << i;
    ASSERT_EQ(a.answers[i].marginals.size(), b.answers[i].marginals.size());
    for (std::size_t k = 0; k < a.answers[i].marginals.size(); ++k) {
      const Marginal &x = a.answers[i].marginals[k], &y = b.answers[i].marginals[k];
      EXPECT_EQ(x.mean, y.mean) << "series " << i;
      EXPECT_EQ(x.scale, y.scale) << "series " << i;
      EXPECT_EQ(x.dof, y.dof) << "series " << i;
    }
  }
}

template <class S>
void expect_batching_is_arrangement(const std::string& variant) {
  const Config config = config_with(variant);
  const JumpOde<NiwHead> model(network_settings(config), kBatchFeatures, 2);
  const auto timelines = many_patterns<S>();
  std::vector<std::size_t> order(timelines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Outcome<S> alone = pass_in_chunks(model, config, timelines, order, 1);
  std::size_t told = 0;
  for (const Answer& answer : alone.answers) told += answer.marginals.size();
  EXPECT_GT(told, kBatchFeatures * timelines.size());
  std::size_t seating = 0;
  for (std::size_t width : {2, 7, 64}) {
    SCOPED_TRACE(variant + ", chunks of " + std::to_string(width));
    expect_same(model, alone, pass_in_chunks(model, config, timelines, order, width),
                kTolerance<S>);
    Generator rng(23, "seating", seating++);
    auto permuted = order;
    rng.shuffle(std::span<std::size_t>(permuted));
    expect_same(model, alone, pass_in_chunks(model, config, timelines, permuted, width),
                kTolerance<S>);
  }
}

class TrainingPassBatching : public testing::TestWithParam<std::string> {};

TEST_P(TrainingPassBatching, DoubleEqualsOneSeriesAtATime) {
  expect_batching_is_arrangement<double>(GetParam());
}
TEST_P(TrainingPassBatching, FloatEqualsOneSeriesAtATime) {
  expect_batching_is_arrangement<float>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, TrainingPassBatching, testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param; });

}  // namespace
}  // namespace edict
