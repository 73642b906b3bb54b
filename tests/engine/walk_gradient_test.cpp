// The whole backward pass, through solver steps, jumps, heads and losses, against central
// differences in double.
#include <gtest/gtest.h>

#include <limits>

#include "engine/finite_difference.h"
#include "engine/heads/niw_head.h"
#include "engine/random_agenda.h"
#include "engine/variant.h"
#include "engine/walk.h"

namespace edict {
namespace {

using NiwOde = JumpOde<NiwHead>;
using Agendas = std::vector<Agenda<double>>;

Config gradient_config() {
  Config config;
  config.model.hidden = 6;
  config.model.head_hidden = 4;
  config.model.encoder_width = 3;
  config.model.step = 0.1;
  config.loss.kl = 0.3;
  config.loss.evidence = 0.05;
  return config;
}

struct Problem {
  Config config;
  Agendas agendas;
  double absorb_until = kForever;
  std::size_t tape_bytes = std::size_t{1} << 30;
  Index features = 3;
  std::vector<double> state = {};  // in which the first series starts; empty: from its covariates
};

double loss(const NiwOde& model, const Problem& problem, const Vector<double>& params,
            Vector<double>& grads) {
  Walk<double, NiwHead> walk(model);
  std::vector<BasicExample<double>> examples;
  for (const auto& agenda : problem.agendas) examples.push_back({&agenda, problem.absorb_until});
  if (!problem.state.empty()) examples.front().state = problem.state.data();
  const Index states = model.hidden * static_cast<Index>(examples.size());
  grads = Vector<double>::Zero(model.layout.size());
  const LossWeights weights{0.7, problem.config.loss.kl, problem.config.loss.evidence};
  // A further loss on the final states, ½‖h‖², checks that gradient's way back too.
  double end = 0;
  const auto sums = walk.train(params.data(), examples, weights, problem.tape_bytes, grads.data(),
                               [&](const double* h, double* d_h) {
                                 for (Index i = 0; i < states; ++i) {
                                   end += 0.5 * h[i] * h[i];
                                   d_h[i] = h[i];
                                 }
                               });
  return end + weights.scale * (sums.nll + weights.kl * sums.kl + weights.evidence * sums.evidence);
}

void expect_gradients(const Problem& problem, double tolerance = 1e-6) {
  const NiwOde model(network_settings(problem.config), problem.features, 2);
  expect_gradients(
      model.layout, model.layout.initial<double>(3),
      [&](const Vector<double>& params, Vector<double>& grads) {
        return loss(model, problem, params, grads);
      },
      tolerance);
}

TEST(WalkGradient, ManySeriesOfManyLengths) {
  Problem p{gradient_config(), {}};
  Generator rng(1);
  for (int events : {5, 1, 3, 0, 7, 2})
    p.agendas.push_back(random_agenda<double>(rng, 3, events, 0.3, 0.5));
  expect_gradients(p);
}

TEST(WalkGradient, NoEventAtAll) {
  Problem p{gradient_config(), {}};
  Generator rng(2);
  p.agendas.push_back(random_agenda<double>(rng, 3, 0, 0.3, 0.5));
  expect_gradients(p);
}

TEST(WalkGradient, OneEvent) {
  Problem p{gradient_config(), {}};
  Generator rng(3);
  p.agendas.push_back(random_agenda<double>(rng, 3, 1, 0.3, 0.5));
  expect_gradients(p);
}

TEST(WalkGradient, AllFeaturesAtEveryEvent) {
  Problem p{gradient_config(), {}};
  Generator rng(4);
  p.agendas.push_back(random_agenda<double>(rng, 3, 4, 0.3, 1.1));
  expect_gradients(p);
}

TEST(WalkGradient, OneFeatureOnly) {
  Problem p{gradient_config(), {}};
  p.features = 1;
  Generator rng(5);
  p.agendas.push_back(random_agenda<double>(rng, 1, 4, 0.3, 1.1));
  expect_gradients(p);
}

TEST(WalkGradient, EqualTimesAndTinyGaps) {
  Problem p{gradient_config(), {}};
  Generator rng(6);
  auto agenda = random_agenda<double>(rng, 3, 5, 0.3, 0.6);
  agenda.stops[1].time = agenda.stops[0].time;
  agenda.stops[2].time = agenda.stops[1].time + 1e-9;
  p.agendas.push_back(agenda);
  expect_gradients(p);
}

TEST(WalkGradient, ForecastsAreScoredButNotAbsorbed) {
  Problem p{gradient_config(), {}};
  Generator rng(7);
  p.agendas.push_back(random_agenda<double>(rng, 3, 6, 0.3, 0.5));
  p.agendas.push_back(random_agenda<double>(rng, 3, 4, 0.3, 0.5));
  p.absorb_until = 0.8;
  expect_gradients(p);
}

// Stops that are only scored lie beside the series' way, several in one step of it, at the time of
// an absorbed event, and at the end, where a query asks for the state.
TEST(WalkGradient, BranchesOfEveryKind) {
  for (const char* solver : {"euler", "rk4", "dopri5"}) {
    Problem p{gradient_config(), {}};
    p.config.model.solver = solver;
    p.config.model.rtol = p.config.model.atol = 1e-12;
    p.config.model.step = 0.25;
    Generator rng(12);
    for (int i = 0; i < 3; ++i) {
      Agenda<double> agenda = random_agenda<double>(rng, 3, 0, 0.3, 0.5);
      for (const double time : {0.05, 0.1, 0.4, 0.62, 0.62, 0.9, 1.3}) {
        const bool absorbed = time == 0.4 || (time == 0.62 && agenda.stops.back().time == 0.62);
        agenda.stop(time, absorbed ? Agenda<double>::kAbsorb | Agenda<double>::kScore
                                   : Agenda<double>::kScore);
        agenda.observe(static_cast<std::int32_t>(rng.below(3)), rng.normal());
      }
      if (i > 0) agenda.stop(i == 1 ? 1.3 : 1.55, Agenda<double>::kQuery);
      p.agendas.push_back(agenda);
    }
    SCOPED_TRACE(solver);
    expect_gradients(p);
  }
}

TEST(WalkGradient, GaussianKlAndPredictiveSurprise) {
  Problem p{gradient_config(), {}};
  p.config.loss.kl_form = "gaussian";
  p.config.model.surprise = "predictive";
  Generator rng(8);
  p.agendas.push_back(random_agenda<double>(rng, 3, 4, 0.3, 0.5));
  expect_gradients(p);
}

TEST(WalkGradient, WithoutKlTerm) {
  Problem p{gradient_config(), {}};
  p.config.loss.kl = 0;
  Generator rng(9);
  p.agendas.push_back(random_agenda<double>(rng, 3, 4, 0.3, 0.5));
  expect_gradients(p);
}

class WalkGradientSegments : public testing::TestWithParam<std::string> {};

TEST_P(WalkGradientSegments, RecomputedGiveTheSameBits) {
  Problem p{gradient_config(), {}};
  set_variant(p.config, GetParam());
  Generator rng(10);
  for (int events : {9, 4, 12})
    p.agendas.push_back(random_agenda<double>(rng, 3, events, 0.4, 0.5));
  p.absorb_until = 2.0;  // with branches under way at the borders
  const NiwOde model(network_settings(p.config), 3, 2);
  const Vector<double> params = model.layout.initial<double>(3);
  Vector<double> whole, parts;
  const double a = loss(model, p, params, whole);
  p.tape_bytes = 2000;
  const double b = loss(model, p, params, parts);
  EXPECT_EQ(a, b);
  EXPECT_EQ(whole, parts);
}

INSTANTIATE_TEST_SUITE_P(Variants, WalkGradientSegments, testing::Values("rk4", "bounded"));

// A state that is carried into a window is where gradients end.
TEST(WalkGradient, OfASeriesThatStartsFromAState) {
  for (const char* variant : {"closed_form", "memory"}) {
    Problem p{gradient_config(), {}};
    set_variant(p.config, variant);
    Generator rng(12);
    for (int events : {5, 3}) p.agendas.push_back(random_agenda<double>(rng, 3, events, 0.4, 0.5));
    const NiwOde model(network_settings(p.config), 3, 2);
    for (Index i = 0; i < model.state_rows(); ++i) p.state.push_back(rng.uniform(0.1, 0.9));
    expect_gradients(p);
  }
}

class WalkGradientVariant : public testing::TestWithParam<std::string> {};

TEST_P(WalkGradientVariant, EqualsDifferences) {
  Problem p{gradient_config(), {}};
  set_variant(p.config, GetParam());
  p.config.model.absorb_bound = 1.7;  // so that many observations feel it
  // The adaptive solver's step lengths follow the parameters, which the gradient (rightly) ignores:
  // at this tolerance what they contribute is below the difference quotient's own error.
  p.config.model.rtol = p.config.model.atol = 1e-12;
  Generator rng(11);
  for (int events : {3, 2, 6})
    p.agendas.push_back(random_agenda<double>(rng, 3, events, 0.35, 0.5));
  p.absorb_until = 1.2;  // what comes later is forecast from what is remembered then
  expect_gradients(p);
}

INSTANTIATE_TEST_SUITE_P(All, WalkGradientVariant, testing::ValuesIn(variants()));

}  // namespace
}  // namespace edict
