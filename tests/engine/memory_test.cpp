// What is remembered of observations, how a head recalls it, and how much of an observation is
// absorbed, with their gradients.
#include "engine/jump/memory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/finite_difference.h"
#include "engine/heads/gaussian_head.h"
#include "engine/heads/niw_head.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"
#include "engine/training_pass_gradients.h"

namespace edict {
namespace {

EngineSettings settings() {
  EngineSettings s;
  s.hidden = 6;
  s.head_hidden = 4;
  s.encoder_width = 3;
  s.propagator = Propagation::closed_form;
  s.shortest_timescale = 0.4;
  s.longest_timescale = 8.0;
  return s;
}

EngineSettings recalling() {
  EngineSettings s = settings();
  s.recall = true;
  return s;
}

TEST(Memory, KeepsAgesAndLastValues) {
  EXPECT_EQ(Memory(settings(), 2).rows(), 0);
  const Memory memory(recalling(), 2);
  ASSERT_EQ(memory.rows(), 6);
  Vector<double> column = Vector<double>::Zero(6), later(6);
  const auto advance = [&](double gap) {
    memory.advance(column.data(), gap, later.data());
    column = later;
  };
  const double tau = 0.1;  // a quarter of the shortest scale
  advance(0.5);
  EXPECT_FALSE(memory.seen(column.data(), 0));
  EXPECT_DOUBLE_EQ(memory.log_age(column.data(), 0), std::log1p(0.5 / tau));
  memory.observe(1, 3.0, column.data());
  advance(0.25);
  memory.observe(1, 4.0, column.data());
  advance(2.0);
  EXPECT_FALSE(memory.seen(column.data(), 0));
  EXPECT_TRUE(memory.seen(column.data(), 1));
  EXPECT_DOUBLE_EQ(memory.log_age(column.data(), 0), std::log1p(2.75 / tau));
  EXPECT_DOUBLE_EQ(memory.log_age(column.data(), 1), std::log1p(2.0 / tau));
  EXPECT_EQ(memory.last(column.data(), 0), 0.0);
  EXPECT_EQ(memory.last(column.data(), 1), 4.0);
}

// With its gate open the mean is the last value, shut it is the head's; never seen, it is the
// head's whatever the gate.
TEST(Recall, MixesTheMeanWithTheLastValueTheLessTheOlder) {
  ParameterLayout layout;
  const Memory memory(recalling(), 2);
  const Recall recall(layout, "recall", 6, 2);
  Vector<double> params = layout.initial<double>(1);
  const Vector<double> x = Vector<double>::Zero(6);
  const auto recalled = [&](double age, double bias) {
    for (const Tensor& tensor : layout.tensors())
      if (tensor.name == "recall.gate.bias")
        params.segment(tensor.offset, tensor.size).setConstant(bias);
    Vector<double> transposed = params;
    recall.transpose(params.data(), transposed.data());
    Vector<double> column = Vector<double>::Zero(6), later(6);
    memory.observe(0, 5.0, column.data());
    memory.advance(column.data(), age, later.data());
    Vector<double> phi(6);
    phi << 1.0, 1.0, -2.0, -2.0, 1.5, 4.5;
    Arena<double> arena;
    recall.forward(Transposed<double>{transposed.data()}, 1, x.data(), memory, later.data(), 6,
                   recall.cache(arena, 1), phi.data());
    return phi;
  };
  EXPECT_NEAR(recalled(0.0, 40.0)[0], 5.0, 1e-12);
  EXPECT_NEAR(recalled(0.0, -40.0)[0], 1.0, 1e-12);
  EXPECT_EQ(recalled(0.0, 40.0)[1], 1.0);
  double before = 5.0, scale = -2.0;
  for (const double age : {0.1, 0.5, 3.0, 40.0}) {
    const Vector<double> phi = recalled(age, 1.0);
    EXPECT_LT(phi[0], before);
    EXPECT_GT(phi[0], 1.0);
    EXPECT_GT(phi[2], scale);
    EXPECT_EQ(phi[4], 1.5);
    before = phi[0], scale = phi[2];
  }
}

TEST(Memory, KeepsWhatTheGuardLetPass) {
  Config config;
  static_cast<EngineSettings&>(config.model) = recalling();
  const auto network = make_network(config, {"a", "b"}, 0, 0);
  const Vector<float> params = moved_parameters<float>(network->layout(), 6);
  Timeline<float> timeline;
  timeline.stop(0.5, Timeline<float>::kAbsorb);
  timeline.observe(1, 500.0f);
  const Example example{&timeline};
  const auto last_value = [&](const Guard& guard) {
    InferenceOptions options;
    options.guard = guard;
    options.final_states = true;
    Answer answer;
    network->worker()->infer(network->weights(params.data()), {&example, 1}, options, {&answer, 1});
    // h, then ages and last values of two features.
    return answer.final_state[static_cast<std::size_t>(network->hidden()) + 2 + 1];
  };
  EXPECT_EQ(last_value({}), 500.0f);
  EXPECT_EQ(last_value({Guard::Kind::population, 1.5}), 1.5f);
}

// However sure the head is, some scale is left.
TEST(Recall, LeavesAScaleWhateverTheHeadSays) {
  ParameterLayout layout;
  const Memory memory(recalling(), 1);
  const Recall recall(layout, "recall", 2, 1);
  const Vector<float> params = layout.initial<float>(1), x = Vector<float>::Zero(2);
  Vector<float> transposed = params;
  recall.transpose(params.data(), transposed.data());
  const auto log_scale = [&](float said) {
    const Vector<float> column = Vector<float>::Zero(3);
    Vector<float> phi(2);
    phi << 0.0f, said;
    Arena<float> arena;
    recall.forward(Transposed<float>{transposed.data()}, 1, x.data(), memory, column.data(), 2,
                   recall.cache(arena, 1), phi.data());
    return phi[1];
  };
  EXPECT_NEAR(log_scale(0.3f), 0.3f, 1e-4);
  EXPECT_NEAR(log_scale(-5.0f), -5.0f, 2e-3);
  EXPECT_GE(log_scale(-1e4f), -11.5f);
  EXPECT_GE(log_scale(-30.0f), -11.5f);
}

struct Options {
  const char* name;
  void (*set)(EngineSettings&);
};

class MemoryGradient : public testing::TestWithParam<Options> {};

template <class H>
void check_gradients(const EngineSettings& engine) {
  Config config;
  static_cast<EngineSettings&>(config.model) = engine;
  config.loss.kl = 0.3;
  config.loss.kl_observation_std = 0.3;
  const JumpOde<H> model(network_settings(config), 3, 2);
  expect_training_pass_gradients(model, 0.3, 8);
}

TEST_P(MemoryGradient, EqualsDifferences) {
  EngineSettings s = recalling();
  GetParam().set(s);
  check_gradients<NiwHead>(s);
  check_gradients<GaussianHead>(s);
}

INSTANTIATE_TEST_SUITE_P(
    Each, MemoryGradient,
    testing::Values(Options{"recall", [](EngineSettings&) {}},
                    Options{"bounded",
                            [](EngineSettings& s) {
                              s.absorb = Absorption::bounded;
                              s.absorb_bound = 1.7;
                            }},
                    Options{"score", [](EngineSettings& s) { s.absorb = Absorption::score; }},
                    Options{"unlearnt",
                            [](EngineSettings& s) {
                              s.absorb = Absorption::score;
                              s.least_scale = {0.1, 0.1, 0.1};
                              s.unchanging = {1};
                              s.sporadic = {2};
                            }},
                    Options{"stepped",
                            [](EngineSettings& s) { s.propagator = Propagation::gru_ode; }}),
    [](const auto& options) { return options.param.name; });

class AbsorbGradient : public testing::TestWithParam<Absorption> {};

TEST_P(AbsorbGradient, EqualsDifferences) {
  for (const SurpriseScale surprise : {SurpriseScale::epistemic, SurpriseScale::predictive}) {
    EngineSettings s = settings();
    s.absorb = GetParam();
    s.absorb_bound = 1.7;  // so that many observations feel it
    s.surprise = surprise;
    check_gradients<NiwHead>(s);
    check_gradients<GaussianHead>(s);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, AbsorbGradient,
                         testing::Values(Absorption::bounded, Absorption::score));

TEST(Absorb, SmallErrorsPassAndNoneCountsForMoreThanTheBound) {
  const Absorb bounded(Absorption::bounded, 3.0), score(Absorption::score, 3.0);
  EXPECT_NEAR(bounded(0.1), 0.1, 1e-4);
  for (const double z : {0.5, 2.0, 5.0, 1e3, 1e200}) {
    EXPECT_LE(bounded(z), 3.0);
    EXPECT_EQ(bounded(-z), -bounded(z));
    EXPECT_LE(score(z), 4.0 / (2 * std::sqrt(3.0)) + 1e-12);  // its peak, at z = √3
    EXPECT_GE(score(z), 0.0);
    EXPECT_TRUE(std::isfinite(score.slope(z)));
  }
  EXPECT_TRUE(std::isfinite(score.slope(1e30f)));
  EXPECT_LT(score(50.0), 0.1);
}

// Two outliers of any size leave states that hardly differ: nothing of the value itself gets in.
TEST(Absorb, TheValueItselfReachesNoState) {
  EngineSettings s = recalling();
  for (const Absorption kind : {Absorption::bounded, Absorption::score}) {
    s.absorb = kind;
    Config config;
    static_cast<EngineSettings&>(config.model) = s;
    const auto network = make_network(config, {"a", "b"}, 0, 0);
    const Vector<float> params = moved_parameters<float>(network->layout(), 6);
    const auto state_after = [&](float outlier) {
      Timeline<float> timeline;
      timeline.stop(0.5, Timeline<float>::kAbsorb);
      timeline.observe(0, outlier);
      const Example example{&timeline};
      Answer answer;
      InferenceOptions options;
      options.final_states = true;
      network->worker()->infer(network->weights(params.data()), {&example, 1}, options,
                               {&answer, 1});
      EXPECT_EQ(answer.final_state.size(), static_cast<std::size_t>(network->state_rows()));
      return answer.final_state;
    };
    const auto far = state_after(1e4f), farther = state_after(1e8f), near = state_after(1.0f);
    double apart = 0, moved = 0;
    for (std::size_t i = 0; i < far.size(); ++i) {
      apart = std::max(apart, static_cast<double>(std::abs(far[i] - farther[i])));
      moved = std::max(moved, static_cast<double>(std::abs(far[i] - near[i])));
    }
    EXPECT_LT(apart, 2e-3) << settings::name_of(
        kind);  // ψ of 10⁴ deviations is within that of its limit
    EXPECT_GT(moved, 1e-3) << settings::name_of(kind);
  }
}

}  // namespace
}  // namespace edict
