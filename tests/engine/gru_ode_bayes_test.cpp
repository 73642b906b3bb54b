// GRU-ODE-Bayes: gradients against differences, everything against its PyTorch peer, and what its
// Gaussian head tells of a feature.
#include <gtest/gtest.h>

#include <limits>

#include "engine/finite_difference.h"
#include "engine/heads/gaussian_head.h"
#include "engine/network.h"
#include "engine/peer_golden.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"
#include "learn/adam.h"

namespace edict {
namespace {

constexpr std::size_t kTape = std::size_t{1} << 30;
using GaussianOde = JumpOde<GaussianHead>;

Config gaussian_config() {
  Config config;
  config.model.kind = "gru-ode-bayes";
  config.model.hidden = 6;
  config.model.head_hidden = 4;
  config.model.encoder_width = 3;
  config.model.step = 0.1;
  config.loss.kl = 0.3;
  config.loss.kl_observation_std = 0.2;
  return config;
}

template <class S>
LossSums learn(const GaussianOde& model, const std::vector<Timeline<S>>& timelines,
               const Vector<S>& params, const LossWeights& weights, Vector<S>& grads,
               double absorb_until = kForever) {
  std::vector<BasicExample<S>> examples;
  for (const auto& timeline : timelines) examples.push_back({&timeline, absorb_until});
  grads = Vector<S>::Zero(model.layout.size());
  return TrainingPass<S, GaussianHead>(model).train(params.data(), examples, weights, kTape,
                                                    grads.data());
}

void check_gradients(const std::vector<Timeline<double>>& timelines,
                     double absorb_until = kForever) {
  const GaussianOde model(network_settings(gaussian_config()), 3, 2);
  const LossWeights weights{0.7, 0.3};
  expect_gradients(model.layout, moved_parameters<double>(model.layout, 3),
                   [&](const Vector<double>& params, Vector<double>& grads) {
                     const LossSums sums =
                         learn(model, timelines, params, weights, grads, absorb_until);
                     return weights.scale * (sums.nll + weights.kl * sums.kl);
                   });
}

TEST(GruOdeBayesGradient, ManyLengthsAndNoObservation) {
  Generator rng(1);
  std::vector<Timeline<double>> timelines;
  for (int events : {5, 1, 0, 7})
    timelines.push_back(random_timeline<double>(rng, 3, events, 0.3, 0.5));
  check_gradients(timelines);
}

TEST(GruOdeBayesGradient, OneObservation) {
  Generator rng(2);
  check_gradients({random_timeline<double>(rng, 3, 1, 0.3, 0.0)});
}

TEST(GruOdeBayesGradient, FeatureNeverSeenAndCovariatesMissing) {
  Generator rng(3);
  std::vector<Timeline<double>> timelines{random_timeline<double>(rng, 2, 4, 0.3, 0.6)};
  timelines[0].covariates.clear();
  check_gradients(timelines);
}

TEST(GruOdeBayesGradient, Forecasts) {
  Generator rng(4);
  check_gradients({random_timeline<double>(rng, 3, 6, 0.3, 0.5)}, 0.8);
}

TEST(GruOdeBayesGolden, LossesAndGradientsEqualPyTorch) {
  for (const auto& c : peer_cases("gru_ode_bayes")) {
    const Config config = peer_config(c);
    const GaussianOde model(network_settings(config), c.at("features"), c.at("covariates"));
    const auto params = peer_vector<double>(model.layout, c.at("params"));
    Vector<double> grads;
    const LossSums sums =
        learn(model, peer_timelines<double>(c), params, {1.0, config.loss.kl}, grads);
    EXPECT_NEAR(sums.nll, c.at("nll"), 1e-10 * std::abs(sums.nll));
    EXPECT_NEAR(sums.kl, c.at("kl"), 1e-10 * std::abs(sums.kl));
    expect_peer_gradients(model.layout, grads, c.at("grads"), 1e-9);
  }
}

// From equal weights, in float against PyTorch in double: ten steps keep four digits.
TEST(GruOdeBayesGolden, FirstTenLossesEqualPyTorch) {
  for (const auto& c : peer_cases("gru_ode_bayes")) {
    const Config config = peer_config(c);
    const GaussianOde model(network_settings(config), c.at("features"), c.at("covariates"));
    auto params = peer_vector<float>(model.layout, c.at("params"));
    const auto timelines = peer_timelines<float>(c);
    double observations = 0;
    for (const auto& timeline : timelines)
      observations += static_cast<double>(timeline.feature.size());
    Adam adam(model.layout.size());
    Vector<float> grads;
    ASSERT_EQ(c.at("losses").size(), 10u);
    for (const double expected : c.at("losses")) {
      const LossSums sums =
          learn(model, timelines, params, {1 / observations, config.loss.kl}, grads);
      const double loss = (sums.nll + config.loss.kl * sums.kl) / observations;
      EXPECT_NEAR(loss, expected, 1e-4 * std::abs(expected));
      adam.step(grads, 1e-3, 0.0, params);
    }
    EXPECT_LT(c.at("losses")[9], c.at("losses")[0]);
  }
}

TEST(GruOdeBayes, BatchingChangesNothing) {
  const GaussianOde model(network_settings(gaussian_config()), 3, 2);
  const Vector<double> params = moved_parameters<double>(model.layout, 5);
  Generator rng(5);
  std::vector<Timeline<double>> timelines;
  for (int events : {4, 0, 9, 1})
    timelines.push_back(random_timeline<double>(rng, 3, events, 0.3, 0.5));
  const LossWeights weights{1.0, 0.3};
  Vector<double> together, again, one, sum = Vector<double>::Zero(params.size());
  const LossSums all = learn(model, timelines, params, weights, together);
  learn(model, timelines, params, weights, again);
  EXPECT_EQ(together, again);
  LossSums added;
  for (const auto& timeline : timelines) {
    added += learn(model, {timeline}, params, weights, one);
    sum += one;
  }
  EXPECT_NEAR(added.nll, all.nll, 1e-12 * std::abs(all.nll));
  EXPECT_NEAR(added.kl, all.kl, 1e-12 * std::abs(all.kl));
  EXPECT_LT((sum - together).cwiseAbs().maxCoeff(), 1e-11 * together.cwiseAbs().maxCoeff());
}

TEST(GruOdeBayes, TellsGaussianMarginals) {
  const auto network = make_network(gaussian_config(), {"a", "b", "c"}, 2, 0);
  EXPECT_TRUE(network->has_distribution());
  const Vector<float> params = moved_parameters<float>(network->layout(), 6);
  Timeline<float> timeline;
  timeline.covariates = {0.1f, -0.2f};
  timeline.stop(0.5, Timeline<float>::kScore | Timeline<float>::kQuery);
  timeline.observe(1, 0.4f);
  const Example example{&timeline};
  Answer answer;
  const LossSums sums =
      network->worker()->infer(network->weights(params.data()), {&example, 1}, {}, {&answer, 1});
  const std::vector<Marginal>& told = answer.marginals;
  ASSERT_EQ(told.size(), 3u);
  for (const Marginal& m : told) {
    EXPECT_EQ(m.epistemic, 0.0);
    EXPECT_EQ(m.dof, kForever);
    EXPECT_DOUBLE_EQ(m.scale * m.scale, m.aleatoric);
  }
  const double r = static_cast<double>(0.4f) - told[1].mean;
  const double nll =
      0.5 * (std::log(2 * std::numbers::pi * told[1].aleatoric) + r * r / told[1].aleatoric);
  EXPECT_NEAR(sums.nll, nll, 1e-5 * std::abs(nll));
}

}  // namespace
}  // namespace edict
