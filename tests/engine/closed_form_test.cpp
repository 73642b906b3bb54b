// The closed form as a propagator: what its formula promises, and what it makes of a model, against
// differences and against PyTorch.
#include "engine/propagators/closed_form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

#include "engine/finite_difference.h"
#include "engine/heads/niw_head.h"
#include "engine/peer_golden.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"
#include "engine/training_pass_gradients.h"

namespace edict {
namespace {

using NiwOde = JumpOde<NiwHead>;

EngineSettings settings(std::int64_t hidden) {
  EngineSettings s;
  s.hidden = hidden;
  s.propagator = Propagation::closed_form;
  s.shortest_timescale = 0.1;
  s.longest_timescale = 20.0;
  return s;
}

template <class S>
struct Propagated {
  explicit Propagated(std::int64_t hidden) : form(layout, "ode", settings(hidden)) {
    params = moved_parameters<S>(layout, 4);
    transposed = params;
    form.transpose(params.data(), transposed.data());
  }
  Vector<S> after(const Vector<S>& h, double dt) const {
    const S time = static_cast<S>(dt);
    Vector<S> factors(form.kept()), next(h.size());
    form.forward(Transposed<S>{transposed.data()}, 1, &time, h.data(), factors.data(), next.data());
    return next;
  }
  ParameterLayout layout;
  ClosedForm form;
  Vector<S> params, transposed;
};

template <class S>
Vector<S> random_state(Index n, std::uint64_t seed) {
  Generator rng(seed);
  return Vector<S>::NullaryExpr(n, [&] { return static_cast<S>(rng.uniform(-1, 1)); });
}

TEST(ClosedForm, NoTimeChangesNoBit) {
  for (const Index n : {1, 3, 10, 50, 101}) {
    const auto h = random_state<float>(n, 1);
    EXPECT_EQ(Propagated<float>(n).after(h, 0.0), h) << n;
  }
}

TEST(ClosedForm, TwoWaysAreOneWayOfTheirSum) {
  const Propagated<double> p(50);
  const auto h = random_state<double>(50, 2);
  for (const double first : {1e-3, 0.4, 7.0}) {
    const auto twice = p.after(p.after(h, first), 2.5), once = p.after(h, first + 2.5);
    EXPECT_LT((twice - once).cwiseAbs().maxCoeff(), 1e-13);
  }
}

// The first pairs are complex numbers times e^{λΔ}, with real parts that never grow.
TEST(ClosedForm, PairsTurnAndFade) {
  const Propagated<double> p(8);
  ASSERT_EQ(p.layout.tensors()[0].name, "ode.decay");
  ASSERT_EQ(p.layout.tensors()[1].name, "ode.frequency");
  const auto h = random_state<double>(8, 3);
  const double dt = 0.7;
  const auto next = p.after(h, dt);
  for (Index k = 0; k < 2; ++k) {
    const double decay = softplus(p.params[k]), frequency = softplus(p.params[2 + k]);
    const std::complex<double> lambda(-decay, 2 * std::numbers::pi * frequency);
    const auto expected = std::complex<double>(h[k], h[2 + k]) * std::exp(lambda * dt);
    EXPECT_NEAR(next[k], expected.real(), 1e-14);
    EXPECT_NEAR(next[2 + k], expected.imag(), 1e-14);
  }
}

TEST(ClosedForm, AnyTimeIsOneMove) {
  ParameterLayout layout;
  const Propagator propagator(layout, "ode", settings(8));
  const Clock clock = propagator.begin(2.0, 0.05);
  for (const double target : {2.0, 2.001, 3.0, 1e9}) {
    const Move move = propagator.next(clock, target);
    EXPECT_TRUE(move.last);
    EXPECT_EQ(move.dt, target - 2.0);
    EXPECT_LE(propagator.steps_to(clock, target), 1.0);
  }
}

TEST(ClosedForm, ForeverIsRest) {
  const Propagated<float> p(12);
  const auto h = random_state<float>(12, 5);
  const auto end = p.after(h, 1e12);
  EXPECT_LT(end.head(6).cwiseAbs().maxCoeff(), 1e-30f);  // pairs
  const Tensor& rest = p.layout.tensors()[3];
  EXPECT_EQ(rest.name, "ode.rest");
  for (Index i = 0; i < rest.size; ++i) EXPECT_NEAR(end[6 + i], p.params[rest.offset + i], 2e-7);
}

TEST(ClosedForm, StartsWithTimeScalesFromTheShortestToTheLongest) {
  ParameterLayout layout;
  const ClosedForm form(layout, "ode", settings(40));
  const auto params = layout.initial<double>(0);
  const Tensor& rate = layout.tensors()[2];
  ASSERT_EQ(rate.name, "ode.rate");
  ASSERT_EQ(rate.size, 20);
  const auto scale = [&](Index i) { return 1 / softplus(params[rate.offset + i]); };
  EXPECT_NEAR(scale(0), 0.1, 1e-10);
  EXPECT_NEAR(scale(19), 20.0, 1e-10);
  for (Index i = 1; i < 19; ++i)  // evenly in the logarithm
    EXPECT_NEAR(std::log(scale(i + 1) / scale(i)), std::log(200.0) / 19, 1e-9);
}

Config small_config(const std::string& kind = "edict") {
  Config config;
  config.model.kind = kind;
  static_cast<EngineSettings&>(config.model) = settings(9);
  config.model.head_hidden = 4;
  config.model.encoder_width = 3;
  config.loss.kl = 0.3;
  return config;
}

TEST(ClosedFormGradient, ThroughEventsForecastsAndBranches) {
  const Config config = small_config();
  const NiwOde model(network_settings(config), 3, 2);
  expect_training_pass_gradients(model, 0.3, 8);
}

// And with everything else that can replace a part of the published model, alone and together.
class OptionsGolden : public testing::TestWithParam<const char*> {};

TEST_P(OptionsGolden, LossesAndGradientsEqualPyTorch) {
  for (const auto& c : peer_cases(GetParam())) {
    SCOPED_TRACE(c.at("config").dump());
    const Config config = peer_config(c);
    const NiwOde model(network_settings(config), c.at("features"), c.at("covariates"));
    const auto params = peer_vector<double>(model.layout, c.at("params"));
    const auto timelines = peer_timelines<double>(c);
    std::vector<BasicExample<double>> examples;
    for (const auto& timeline : timelines) examples.push_back({&timeline, c.at("absorb_until")});
    Vector<double> grads = Vector<double>::Zero(model.layout.size());
    const LossSums sums = TrainingPass<double, NiwHead>(model).train(
        params.data(), examples, {1.0, config.loss.kl, config.loss.evidence}, std::size_t{1} << 30,
        grads.data());
    EXPECT_NEAR(sums.nll, c.at("nll"), 1e-10 * std::abs(sums.nll));
    EXPECT_NEAR(sums.kl, c.at("kl"), 1e-10 * std::abs(sums.kl));
    EXPECT_NEAR(sums.evidence, c.at("evidence"), 1e-10 * std::abs(sums.evidence));
    // As far as PyTorch's lgamma and digamma agree with ours, see training_pass_golden_test.cpp.
    expect_peer_gradients(model.layout, grads, c.at("grads"), 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(Peers, OptionsGolden, testing::Values("closed_form", "options"));

}  // namespace
}  // namespace edict
