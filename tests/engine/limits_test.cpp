// Where the engine gives up, and in which words: steps that vanish or never end, distributions that
// are not finite. And what it must carry through: very long series, features in any order.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "engine/inference.h"
#include "engine/random_timeline.h"
#include "engine/small_model.h"
#include "engine/training_pass.h"

namespace edict {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Index kFeatures = 3;

Config config_with(const std::string& solver) {
  Config config;
  config.model.hidden = 6;
  config.model.head_hidden = 4;
  config.model.encoder_width = 3;
  config.model.step = 0.1;
  config.model.solver = *settings::from_name<Solver>(solver);
  config.loss.kl = 0.2;
  return config;
}

NetworkSettings named_settings(const Config& config) {
  NetworkSettings settings = network_settings(config);
  settings.feature_names = {"pulse", "lactate", "weight"};
  settings.time_unit = 60;  // the model's hours are the data's minutes, from minute 5 on
  settings.time_origin = 5;
  return settings;
}

template <class S>
Answer answer_to(const JumpOde<NiwHead>& model, const Vector<S>& params,
                 const BasicExample<S>& example, const InferenceOptions& options = {}) {
  Vector<S> transposed;
  model.transpose(params.data(), transposed);
  Answer answer;
  Inference<S, NiwHead>(model).run({transposed.data()}, {&example, 1}, options, {&answer, 1});
  return answer;
}

Timeline<double> asked_at(std::initializer_list<double> times) {
  Timeline<double> timeline;
  timeline.id = "bed 4";
  timeline.covariates = {0, 0};
  for (const double time : times) timeline.stop(time, Timeline<double>::kQuery);
  return timeline;
}

// No step is short enough for a state that is not a number.
TEST(StepLimits, AStepThatVanishesIsToldWithSeriesAndTime) {
  const JumpOde<NiwHead> model(named_settings(config_with("dopri5")), kFeatures, 2);
  const Vector<double> params = model.layout.initial<double>(1);
  const Timeline<double> timeline = asked_at({2.5});
  const Vector<double> lost = Vector<double>::Constant(model.hidden, kNaN);
  BasicExample<double> example{&timeline};
  example.state = lost.data();
  EXPECT_EQ(refusal_of([&] { answer_to(model, params, example); }),
            "series bed 4: event 0 at time 155 cannot be reached within the tolerance (the step "
            "vanished); check its values, data.time_unit and model.step");
}

// In a long pause a state comes to rest, and what is left of it costs nothing; between questions
// that are close together every step is taken.
TEST(StepLimits, AStateAtRestIsWhereEveryStepWouldHaveLed) {
  for (const char* solver : {"euler", "midpoint", "rk4"}) {
    const JumpOde<NiwHead> model(named_settings(config_with(solver)), kFeatures, 2);
    const Vector<double> wide = model.layout.initial<double>(1);
    const Vector<float> params = wide.cast<float>();
    for (const double last : {799.95, 999.97, 1000.0, 9.9e5}) {
      Timeline<float> far, often;
      for (Timeline<float>* timeline : {&far, &often}) {
        timeline->covariates = {0, 0};
        timeline->stop(0.3, Timeline<float>::kAbsorb);
        timeline->observe(1, 0.7F);
      }
      if (last <= 1000)
        for (double time = 1; time < last; ++time) often.stop(time, Timeline<float>::kQuery);
      far.stop(last, Timeline<float>::kQuery);
      often.stop(last, Timeline<float>::kQuery);
      InferenceOptions options;
      options.marginals = InferenceOptions::Marginals::all;
      const auto given_far = answer_to<float>(model, params, {&far}, options).marginals;
      const auto given_often = answer_to<float>(model, params, {&often}, options).marginals;
      ASSERT_EQ(given_far.size(), kFeatures);
      for (std::size_t j = 0; j < kFeatures; ++j) {
        const Marginal& a = given_far[j];
        const Marginal& b = given_often[given_often.size() - kFeatures + j];
        EXPECT_EQ(a.mean, b.mean) << solver << ' ' << last;
        EXPECT_EQ(a.scale, b.scale) << solver << ' ' << last;
      }
    }
  }
}

// Told before the first step is taken, not after a week of them.
TEST(StepLimits, MoreThanTenMillionStepsAreRefusedAtOnce) {
  for (const char* solver : {"euler", "midpoint", "rk4"}) {
    const JumpOde<NiwHead> model(named_settings(config_with(solver)), kFeatures, 2);
    const Vector<double> params = model.layout.initial<double>(1);
    const Timeline<double> timeline = asked_at({1.0, 1.1e6});
    const std::string said = refusal_of([&] { answer_to(model, params, {&timeline}); });
    EXPECT_NE(said.find("series bed 4: event 1 at time 66000005 would take more than 1e+07 solver "
                        "steps to reach"),
              std::string::npos)
        << said;
  }
}

// model.step is only its first: once the state is at rest stability alone bounds the others, which
// are then a few units of time long.
TEST(StepLimits, TheAdaptiveSolverCrossesAGapThatFixedStepsCannot) {
  Config config = config_with("dopri5");
  config.model.step = 1e-4;
  const Timeline<double> timeline = asked_at({1.0, 1e3, 2e3});
  const JumpOde<NiwHead> model(named_settings(config), kFeatures, 2);
  const Answer answer = answer_to(model, model.layout.initial<double>(1), {&timeline});
  ASSERT_EQ(answer.marginals.size(), 9u);
  // At rest: twice as late is the same state, to the tolerance of the solver.
  EXPECT_NEAR(answer.marginals[3].mean, answer.marginals[6].mean, 1e-2);
  config.model.solver = Solver::euler;
  const JumpOde<NiwHead> fixed(named_settings(config), kFeatures, 2);
  EXPECT_NE(refusal_of([&] { answer_to(fixed, fixed.layout.initial<double>(1), {&timeline}); }),
            "accepted");
}

// φ holds the logarithm of the scale, which is finite far beyond where the scale is. Float ends at
// e^88.7.
TEST(NotFinite, AScaleThatOverflowsIsAnErrorWithSeriesTimeAndFeature) {
  const JumpOde<NiwHead> model(named_settings(config_with("euler")), kFeatures, 2);
  Vector<float> params = model.layout.initial<float>(1);
  for (const Tensor& tensor : model.layout.tensors())
    if (tensor.name == "head.psi.1.bias") params[tensor.offset + 1] = 100;
  Timeline<float> timeline;
  timeline.id = "bed 4";
  timeline.covariates = {0, 0};
  timeline.stop(2.0, Timeline<float>::kAbsorb);
  timeline.observe(0, 0.5f);
  timeline.stop(3.0, Timeline<float>::kQuery);
  timeline.observe(2, 0.5f);
  const auto said = [&](InferenceOptions::Marginals asked) {
    InferenceOptions options;
    options.marginals = asked;
    return refusal_of([&] { answer_to(model, params, {&timeline}, options); });
  };
  using Marginals = InferenceOptions::Marginals;
  EXPECT_EQ(said(Marginals::all),
            "series bed 4: the distribution of 'lactate' at time 185 is not finite; check its "
            "values, and train the model again with a lower train.learning_rate");
  // Who asks for another feature, or for states alone, is answered.
  EXPECT_EQ(said(Marginals::observed), "accepted");
  EXPECT_EQ(said(Marginals::none), "accepted");
  timeline.feature.back() = 1;
  EXPECT_NE(said(Marginals::observed).find("'lactate' at time 185"), std::string::npos);
}

TEST(NotFinite, ALargeScaleThatFloatHoldsIsAnswered) {
  const JumpOde<NiwHead> model(named_settings(config_with("euler")), kFeatures, 2);
  Vector<float> params = model.layout.initial<float>(1);
  for (const Tensor& tensor : model.layout.tensors())
    if (tensor.name == "head.psi.1.bias") params[tensor.offset + 1] = 80;
  Timeline<float> timeline;
  timeline.covariates = {0, 0};
  timeline.stop(3.0, Timeline<float>::kQuery);
  const Answer answer = answer_to(model, params, {&timeline});
  EXPECT_GT(answer.marginals[1].aleatoric, 1e30);
  EXPECT_TRUE(std::isfinite(answer.marginals[1].scale));
}

class LongSeries : public testing::TestWithParam<const char*> {};

// Two thousand events: hundreds of segments, with neighbours that end early.
TEST_P(LongSeries, InSegmentsGivesTheBitsOfOneTape) {
  const JumpOde<NiwHead> model(named_settings(config_with(GetParam())), kFeatures, 2);
  const Vector<float> params = model.layout.initial<float>(2);
  Generator rng(3);
  std::vector<Timeline<float>> timelines;
  for (const int events : {2000, 700, 3}) {
    timelines.push_back(random_timeline<float>(rng, kFeatures, events, 0.15, 0.5));
    timelines.back().stop(timelines.back().stops.back().time + 1, Timeline<float>::kQuery);
  }
  std::vector<Example> examples;
  for (const auto& timeline : timelines) examples.push_back({&timeline});
  const auto trained = [&](std::size_t tape_bytes, Vector<float>& grads) {
    grads.setZero(model.layout.size());
    return TrainingPass<float, NiwHead>(model).train(params.data(), examples, {1e-3, 0.2, 0.05},
                                                     tape_bytes, grads.data());
  };
  Vector<float> whole, parts;
  const LossSums a = trained(std::size_t{1} << 30, whole), b = trained(50'000, parts);
  EXPECT_EQ(a.nll, b.nll);
  EXPECT_EQ(a.kl, b.kl);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.events, 2703);
  EXPECT_EQ(whole, parts);
  EXPECT_TRUE(whole.allFinite());
  EXPECT_GT(whole.cwiseAbs().maxCoeff(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, LongSeries, testing::Values("euler", "dopri5"));

// Where feature j of a model stands in the same model with its features in another order.
constexpr std::array<Index, kFeatures> kPlace = {2, 0, 1};

// The parameters of that model: what belongs to a feature moves with it. A tensor of features holds
// `block` numbers for each of them, once in every one of its rows.
Vector<double> reordered(const ParameterLayout& layout, const Vector<double>& params) {
  Vector<double> result = params;
  const auto move = [&](const Tensor& tensor, Index rows, Index block) {
    for (Index row = 0; row < rows; ++row)
      for (Index j = 0; j < kFeatures; ++j) {
        const Index start = tensor.offset + row * kFeatures * block;
        result.segment(start + kPlace[static_cast<std::size_t>(j)] * block, block) =
            params.segment(start + j * block, block);
      }
  };
  int moved = 0;
  for (const Tensor& tensor : layout.tensors()) {
    const bool by_feature = tensor.name == "encoder.weight" || tensor.name == "encoder.bias" ||
                            tensor.name.starts_with("head.mu.1.") ||
                            tensor.name.starts_with("head.psi.1.");
    if (by_feature)
      move(tensor, 1, tensor.size / kFeatures), ++moved;
    else if (tensor.name == "update.w_ih")  // its columns: encoding width a feature
      move(tensor, tensor.shape[0], tensor.shape[1] / kFeatures), ++moved;
  }
  EXPECT_EQ(moved, 7);
  return result;
}

// A model knows its features by their place alone: moved together with what belongs to them they
// give the same losses and the same answers, at their new places.
TEST(FeatureOrder, MovesNothingButPlaces) {
  const JumpOde<NiwHead> model(named_settings(config_with("euler")), kFeatures, 2);
  const Vector<double> params = model.layout.initial<double>(7);
  const Vector<double> other_params = reordered(model.layout, params);
  Generator rng(5);
  Timeline<double> timeline = random_timeline<double>(rng, kFeatures, 12, 0.3, 0.7);
  for (auto& stop : timeline.stops) stop.what |= Timeline<double>::kQuery;
  Timeline<double> other = asked_at({});
  other.covariates = timeline.covariates;
  for (const auto& stop : timeline.stops) {
    other.stop(stop.time, stop.what);
    for (Index place = 0; place < kFeatures; ++place)  // observations stand in order of features
      for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
        if (kPlace[static_cast<std::size_t>(timeline.feature[k])] == place)
          other.observe(static_cast<std::int32_t>(place), timeline.value[k]);
  }
  const Answer a = answer_to(model, params, {&timeline}),
               b = answer_to(model, other_params, {&other});
  ASSERT_EQ(a.marginals.size(), 12u * kFeatures);
  for (std::size_t query = 0; query < 12; ++query)
    for (std::size_t j = 0; j < kFeatures; ++j) {
      const Marginal& x = a.marginals[query * kFeatures + j];
      const Marginal& y = b.marginals[query * kFeatures + static_cast<std::size_t>(kPlace[j])];
      // Sums over features in another order.
      EXPECT_NEAR(x.mean, y.mean, 1e-12) << query;
      EXPECT_NEAR(x.scale, y.scale, 1e-12) << query;
      EXPECT_NEAR(x.dof, y.dof, 1e-12) << query;
    }
  const auto loss = [&](const Vector<double>& p, const Timeline<double>& series) {
    Vector<double> grads = Vector<double>::Zero(model.layout.size());
    const BasicExample<double> example{&series};
    const LossSums sums = TrainingPass<double, NiwHead>(model).train(
        p.data(), {&example, 1}, {1, 0.2, 0.05}, std::size_t{1} << 30, grads.data());
    return std::pair(sums, grads);
  };
  const auto [sums, grads] = loss(params, timeline);
  const auto [other_sums, other_grads] = loss(other_params, other);
  EXPECT_NEAR(sums.nll, other_sums.nll, 1e-11);
  EXPECT_NEAR(sums.kl, other_sums.kl, 1e-11);
  EXPECT_LT((reordered(model.layout, grads) - other_grads).cwiseAbs().maxCoeff(), 1e-10);
}

}  // namespace
}  // namespace edict
