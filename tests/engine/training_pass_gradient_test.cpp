// The whole backward pass, through solver steps, jumps, heads and losses, against central
// differences in double.
#include <gtest/gtest.h>

#include <limits>

#include "engine/finite_difference.h"
#include "engine/heads/niw_head.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"
#include "engine/variant.h"

namespace edict {
namespace {

using NiwOde = JumpOde<NiwHead>;
using Timelines = std::vector<Timeline<double>>;

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
  Timelines timelines;
  double absorb_until = kForever;
  std::size_t tape_bytes = std::size_t{1} << 30;
  Index features = 3;
  std::vector<double> state = {};  // in which the first series starts; empty: from its covariates
};

double loss(const NiwOde& model, const Problem& problem, const Vector<double>& params,
            Vector<double>& grads) {
  TrainingPass<double, NiwHead> pass(model);
  std::vector<BasicExample<double>> examples;
  for (const auto& timeline : problem.timelines)
    examples.push_back({&timeline, problem.absorb_until});
  if (!problem.state.empty()) examples.front().state = problem.state.data();
  const Index states = model.hidden * static_cast<Index>(examples.size());
  grads = Vector<double>::Zero(model.layout.size());
  const LossWeights weights{0.7, problem.config.loss.kl, problem.config.loss.evidence};
  // A further loss on the final states, ½‖h‖², checks that gradient's way back too.
  double end = 0;
  const auto sums = pass.train(params.data(), examples, weights, problem.tape_bytes, grads.data(),
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

TEST(TrainingPassGradient, ManySeriesOfManyLengths) {
  Problem p{gradient_config(), {}};
  Generator rng(1);
  for (int events : {5, 1, 3, 0, 7, 2})
    p.timelines.push_back(random_timeline<double>(rng, 3, events, 0.3, 0.5));
  expect_gradients(p);
}

TEST(TrainingPassGradient, NoEventAtAll) {
  Problem p{gradient_config(), {}};
  Generator rng(2);
  p.timelines.push_back(random_timeline<double>(rng, 3, 0, 0.3, 0.5));
  expect_gradients(p);
}

TEST(TrainingPassGradient, OneEvent) {
  Problem p{gradient_config(), {}};
  Generator rng(3);
  p.timelines.push_back(random_timeline<double>(rng, 3, 1, 0.3, 0.5));
  expect_gradients(p);
}

TEST(TrainingPassGradient, AllFeaturesAtEveryEvent) {
  Problem p{gradient_config(), {}};
  Generator rng(4);
  p.timelines.push_back(random_timeline<double>(rng, 3, 4, 0.3, 1.1));
  expect_gradients(p);
}

TEST(TrainingPassGradient, OneFeatureOnly) {
  Problem p{gradient_config(), {}};
  p.features = 1;
  Generator rng(5);
  p.timelines.push_back(random_timeline<double>(rng, 1, 4, 0.3, 1.1));
  expect_gradients(p);
}

TEST(TrainingPassGradient, EqualTimesAndTinyGaps) {
  Problem p{gradient_config(), {}};
  Generator rng(6);
  auto timeline = random_timeline<double>(rng, 3, 5, 0.3, 0.6);
  timeline.stops[1].time = timeline.stops[0].time;
  timeline.stops[2].time = timeline.stops[1].time + 1e-9;
  p.timelines.push_back(timeline);
  expect_gradients(p);
}

TEST(TrainingPassGradient, ForecastsAreScoredButNotAbsorbed) {
  Problem p{gradient_config(), {}};
  Generator rng(7);
  p.timelines.push_back(random_timeline<double>(rng, 3, 6, 0.3, 0.5));
  p.timelines.push_back(random_timeline<double>(rng, 3, 4, 0.3, 0.5));
  p.absorb_until = 0.8;
  expect_gradients(p);
}

// Stops that are only scored lie beside the series' way, several in one step of it, at the time of
// an absorbed event, and at the end, where a query asks for the state.
TEST(TrainingPassGradient, BranchesOfEveryKind) {
  for (const Solver solver : {Solver::euler, Solver::rk4, Solver::dopri5}) {
    Problem p{gradient_config(), {}};
    p.config.model.solver = solver;
    p.config.model.rtol = p.config.model.atol = 1e-12;
    p.config.model.step = 0.25;
    Generator rng(12);
    for (int i = 0; i < 3; ++i) {
      Timeline<double> timeline = random_timeline<double>(rng, 3, 0, 0.3, 0.5);
      for (const double time : {0.05, 0.1, 0.4, 0.62, 0.62, 0.9, 1.3}) {
        const bool absorbed = time == 0.4 || (time == 0.62 && timeline.stops.back().time == 0.62);
        timeline.stop(time, absorbed ? Timeline<double>::kAbsorb | Timeline<double>::kScore
                                     : Timeline<double>::kScore);
        timeline.observe(static_cast<std::int32_t>(rng.below(3)), rng.normal());
      }
      if (i > 0) timeline.stop(i == 1 ? 1.3 : 1.55, Timeline<double>::kQuery);
      p.timelines.push_back(timeline);
    }
    SCOPED_TRACE(std::string(settings::name_of(solver)));
    expect_gradients(p);
  }
}

TEST(TrainingPassGradient, GaussianKlAndPredictiveSurprise) {
  Problem p{gradient_config(), {}};
  p.config.loss.kl_form = KlForm::gaussian;
  p.config.model.surprise = SurpriseScale::predictive;
  Generator rng(8);
  p.timelines.push_back(random_timeline<double>(rng, 3, 4, 0.3, 0.5));
  expect_gradients(p);
}

TEST(TrainingPassGradient, WithoutKlTerm) {
  Problem p{gradient_config(), {}};
  p.config.loss.kl = 0;
  Generator rng(9);
  p.timelines.push_back(random_timeline<double>(rng, 3, 4, 0.3, 0.5));
  expect_gradients(p);
}

class TrainingPassGradientSegments : public testing::TestWithParam<std::string> {};

TEST_P(TrainingPassGradientSegments, RecomputedGiveTheSameBits) {
  Problem p{gradient_config(), {}};
  set_variant(p.config, GetParam());
  Generator rng(10);
  for (int events : {9, 4, 12})
    p.timelines.push_back(random_timeline<double>(rng, 3, events, 0.4, 0.5));
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

INSTANTIATE_TEST_SUITE_P(Variants, TrainingPassGradientSegments, testing::Values("rk4", "bounded"));

// A state that is carried into a window is where gradients end.
TEST(TrainingPassGradient, OfASeriesThatStartsFromAState) {
  for (const char* variant : {"closed_form", "recall"}) {
    Problem p{gradient_config(), {}};
    set_variant(p.config, variant);
    Generator rng(12);
    for (int events : {5, 3})
      p.timelines.push_back(random_timeline<double>(rng, 3, events, 0.4, 0.5));
    const NiwOde model(network_settings(p.config), 3, 2);
    for (Index i = 0; i < model.state_rows(); ++i) p.state.push_back(rng.uniform(0.1, 0.9));
    expect_gradients(p);
  }
}

class TrainingPassGradientVariant : public testing::TestWithParam<std::string> {};

TEST_P(TrainingPassGradientVariant, EqualsDifferences) {
  Problem p{gradient_config(), {}};
  set_variant(p.config, GetParam());
  p.config.model.absorb_bound = 1.7;  // so that many observations feel it
  // The adaptive solver's step lengths follow the parameters, which the gradient (rightly) ignores:
  // at this tolerance what they contribute is below the difference quotient's own error.
  p.config.model.rtol = p.config.model.atol = 1e-12;
  Generator rng(11);
  for (int events : {3, 2, 6})
    p.timelines.push_back(random_timeline<double>(rng, 3, events, 0.35, 0.5));
  p.absorb_until = 1.2;  // what comes later is forecast from what is remembered then
  expect_gradients(p);
}

INSTANTIATE_TEST_SUITE_P(All, TrainingPassGradientVariant, testing::ValuesIn(variants()));

}  // namespace
}  // namespace edict
