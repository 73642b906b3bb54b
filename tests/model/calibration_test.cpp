// What a calibration does to distributions and files, and whether conformal intervals keep their
// promise.
#include "model/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ask/stream.h"
#include "base/generator.h"
#include "base/json/json.h"
#include "engine/small_model.h"
#include "model/infer.h"
#include "protocol/protocol.h"
#include "temporary_folder.h"

namespace edict {
namespace {

FeatureCalibration some_map(double log_factor, double slope, double dof) {
  FeatureCalibration map;
  map.log_factor = log_factor;
  map.slope = slope;
  map.reference = 0.5;
  map.horizon_slope = 0.25;
  map.horizon_unit = 2.0;
  map.farthest = 6.0;
  map.dof = dof;
  return map;
}

Calibration some_calibration() {
  Calibration calibration;
  calibration.features = {some_map(0.3, 0.2, 3.5), some_map(-0.4, 0.0, 8), some_map(0, -0.3, 2.5)};
  calibration.features[2].dof_slope = -0.25;
  calibration.features[2].windows = 40;
  calibration.features[1].ranges = {{2.0, {{0.4, 0.3}, {0.9, 0.95}}}, {5.0, {{0.5, 0.6}}}};
  calibration.fit_series = 7;
  calibration.conformal_series = 8;
  return calibration;
}

TEST(FeatureCalibration, IsAMonotoneMapOfTheProbabilityTransform) {
  const FeatureCalibration map = some_map(0.3, 0.2, 3.5);
  const Marginal before{1.0, 0.2, 0.1, 0.4, 9.0};
  const Marginal after = map.calibrated(before, 4.0);
  EXPECT_EQ(after.mean, before.mean);
  EXPECT_EQ(after.dof, 3.5);
  EXPECT_NEAR(after.scale, 0.4 * std::exp(0.3) * std::pow(0.4 / 0.5, 0.2) * std::pow(3.0, 0.25),
              1e-12);
  EXPECT_EQ(map.calibrated(before, 60).scale, map.calibrated(before, 6).scale)
      << "beyond what was calibrated nothing more is known";
  double last = 0;
  for (double x = -3; x < 5; x += 0.25) {
    const double u = student_t_cdf((x - before.mean) / before.scale, before.dof);
    const double g = student_t_cdf((x - after.mean) / after.scale, after.dof);
    // G(u) as the header writes it.
    EXPECT_NEAR(
        g, student_t_cdf(before.scale / after.scale * student_t_quantile(u, before.dof), after.dof),
        1e-9);
    EXPECT_GT(g, last);
    last = g;
  }
}

TEST(FeatureCalibration, TailsDependOnTheHorizonAndOnWhatTheyWereFittedTo) {
  FeatureCalibration map = some_map(0.3, 0.2, 5.1);
  map.dof_slope = 0.5;
  const Marginal before{1.0, 0.2, 0.1, 0.4, 9.0};
  EXPECT_NEAR(map.calibrated(before, 0.0).dof, 5.1, 1e-12);
  EXPECT_NEAR(map.calibrated(before, 4.0).dof, 2.1 + 3.0 * std::sqrt(3.0), 1e-12);
  EXPECT_EQ(map.calibrated(before, 60).dof, map.calibrated(before, 6).dof);
  map.windows = 10;
  EXPECT_NEAR(map.calibrated(before, 0.0).dof, 1.0 / (1.0 / 5.1 + 0.1), 1e-12);
  map.windows = 2;
  EXPECT_EQ(map.calibrated(before, 0.0).dof, 2.1) << "the variance stays finite";
  map.windows = 0;
  map.dof_slope = -100;
  EXPECT_NEAR(map.calibrated(before, 4.0).dof, 2.1 + std::exp(-2.0), 1e-12);
}

// ln s is estimated from n normal errors with an error of variance 1/2n, and what is then predicted
// is a Student-t of n degrees of freedom: the intervals of the one that allows for n hold 90 %.
TEST(FeatureCalibration, IntervalsOfAWidthThatFewWindowsGaveHold) {
  constexpr std::size_t kWindows = 6, kTries = 40000;
  FeatureCalibration map;
  map.dof = 400;  // errors are normal
  std::size_t held = 0, held_without = 0;
  Generator rng(7, "windows");
  for (std::size_t i = 0; i < kTries; ++i) {
    double squared = 0;
    for (std::size_t k = 0; k < kWindows; ++k) squared += std::pow(rng.normal(), 2);
    map.log_factor = 0.5 * std::log(squared / kWindows);
    const double x = rng.normal();
    for (const double windows : {0.0, 6.0}) {
      map.windows = windows;
      const Marginal m = map.calibrated({0.0, 1.0, 0.0, 1.0, 400.0}, 0.0);
      (windows > 0 ? held : held_without) += central_level(m, x) <= 0.9;
    }
  }
  EXPECT_NEAR(static_cast<double>(held) / kTries, 0.9, 0.01);
  EXPECT_LT(static_cast<double>(held_without) / kTries, 0.87);
}

TEST(FeatureCalibration, DividesTheNewVarianceAsTheOldOneWas) {
  const Marginal after = some_map(0.3, 0.2, 3.5).calibrated({1.0, 0.2, 0.1, 0.4, 9.0}, 1.0);
  EXPECT_NEAR(after.aleatoric + after.epistemic, after.scale * after.scale * 3.5 / 1.5, 1e-12);
  EXPECT_NEAR(after.aleatoric / after.epistemic, 2.0, 1e-12);
}

// One series' queries, asked for every feature, for its own observations, and as a stream.
TEST(Calibration, IsInEveryAnswer) {
  const Dataset& data = small_synthetic();
  Model model = small_trained_model().with_classifier(small_trained_model().config, {"0", "1"});
  std::vector<Timeline<float>> timelines;
  const std::vector<std::uint8_t> none(data.first_observation[data.first_event[1]], 0);
  timelines.push_back(evaluation_timeline(model.protocol, data, 0, none));
  ThreadPool pool(1);
  for (const auto asked :
       {InferenceOptions::Marginals::all, InferenceOptions::Marginals::observed}) {
    InferenceOptions options;
    options.marginals = asked;
    model.calibration = {};
    const auto before = infer(model, examples_of(timelines), pool, options).front().marginals;
    model.calibration = some_calibration();
    const auto after = infer(model, examples_of(timelines), pool, options).front().marginals;
    const auto raw =
        infer_uncalibrated(model, examples_of(timelines), pool, options).front().marginals;
    ASSERT_EQ(after.size(), before.size());
    ASSERT_FALSE(after.empty());
    std::size_t k = 0, query = 0;
    const std::vector<double> ahead = horizons(timelines[0]);
    for (const auto& stop : timelines[0].stops) {
      if (!(stop.what & Timeline<float>::kQuery)) continue;
      const double horizon = ahead[query++];
      const bool all = asked == InferenceOptions::Marginals::all;
      for (std::size_t i = 0; i < (all ? 3 : stop.count); ++i, ++k) {
        const std::size_t j =
            all ? i : static_cast<std::size_t>(timelines[0].feature[stop.first + i]);
        EXPECT_EQ(raw[k].scale, before[k].scale);
        EXPECT_EQ(after[k].scale,
                  model.calibration.features[j].calibrated(before[k], horizon).scale);
        EXPECT_EQ(after[k].dof, model.calibration.features[j].calibrated(before[k], horizon).dof);
      }
    }
    EXPECT_EQ(k, after.size());
  }
  Stream stream(std::move(model));
  EXPECT_EQ(stream.distribution(1.0)[0].dof, 3.5);
  EXPECT_EQ(stream.distribution(1.0)[2].dof,
            some_calibration().features[2].dof_at(std::log1p(1.0 / 2.0)));
}

TEST(Calibration, TravelsInTheModelFile) {
  const TemporaryFolder folder;
  Model model = small_trained_model().with_classifier(small_trained_model().config, {"0", "1"});
  model.calibration = some_calibration();
  save_model(model, folder / "m.model");
  const Model read = load_model(folder / "m.model");
  EXPECT_EQ(to_json(read.calibration), to_json(model.calibration));
  EXPECT_EQ(read.calibration.conformal_series, 8u);
  EXPECT_EQ(to_json(read.with_classifier(read.config, {"a", "b"}).calibration),
            to_json(model.calibration))
      << "a classifier leaves the distributions as they are";
}

TEST(Calibration, IsRefusedWhereItContradictsItself) {
  const auto refused = [](auto change) {
    nlohmann::json json = to_json(some_calibration());
    change(json);
    return refusal_of([&] { calibration_from_json(json, 3); });
  };
  EXPECT_EQ(refused([](auto&) {}), "accepted");
  const std::string wrong = "its calibration contradicts itself";
  EXPECT_EQ(refused([](auto& j) { j["features"][0]["dof"] = 2.0; }), wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"][0]["slope"] = -1.0; }), wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"][0]["reference"] = 0; }), wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"][1]["ranges"][0]["level"] = {0.5, 0.4}; }), wrong);
  EXPECT_EQ(refused([](auto& j) {
              j["features"][1]["ranges"][0]["promised"] = {0.5, 1.4};
            }),
            wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"][1]["ranges"][0]["promised"] = {0.5}; }), wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"][1]["ranges"][1]["until"] = 1.0; }), wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"][2]["horizon_unit"] = 0.0; }), wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"][2]["windows"] = -1; }), wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"][2]["dof"] = 2.05; }), wrong);
  EXPECT_EQ(refused([](auto& j) { j["features"].erase(0); }),
            "its calibration is of another number of features");
}

Matrix<double> of_three(double r10, double r20, double r21) {
  Matrix<double> r(3, 3);
  r << 1, r10, r20, r10, 1, r21, r20, r21, 1;
  return r;
}

TEST(Correlations, TravelWithTheCalibration) {
  const TemporaryFolder folder;
  Model model = small_trained_model().with_classifier(small_trained_model().config, {"0", "1"});
  model.calibration = some_calibration();
  EXPECT_FALSE(to_json(model.calibration).contains("correlations"))
      << "as files were before there were any";
  save_model(model, folder / "old.model");
  EXPECT_TRUE(load_model(folder / "old.model").calibration.correlations.empty());
  model.calibration.correlations = Correlations(of_three(0.5, -1.0 / 3, 0.1));
  save_model(model, folder / "m.model");
  EXPECT_EQ(load_model(folder / "m.model").calibration.correlations.matrix(),
            of_three(0.5, -1.0 / 3, 0.1));
}

TEST(Correlations, ThatAreNoneAreRefused) {
  const auto refused = [](nlohmann::json below) {
    nlohmann::json json = to_json(some_calibration());
    json["correlations"] = std::move(below);
    return refusal_of([&] { calibration_from_json(json, 3); });
  };
  EXPECT_EQ(refused({0.5, 0.2, 0.1}), "accepted");
  const std::string contradict =
      "its correlations contradict each other: they are not positive definite";
  EXPECT_EQ(refused({0.9, 0.9, -0.9}), contradict);
  EXPECT_EQ(refused({1.0, 0.0, 0.0}), contradict);
  EXPECT_EQ(refused({0.0, 1.5, 0.0}), contradict);
  EXPECT_EQ(refused({0.5, 0.2}), "its correlations are of another number of features");
  EXPECT_ANY_THROW(refused({0.5, 0.2, nullptr}));
  // A file tells one half of the matrix, so that it cannot be asymmetric; a caller can.
  const std::string no_matrix = "its correlations are no symmetric matrix with a diagonal of ones";
  Matrix<double> r = of_three(0.5, 0.2, 0.1);
  r(0, 1) = 0.4;
  EXPECT_EQ(refusal_of([&] { Correlations{r}; }), no_matrix);
  r = of_three(0.5, 0.2, 0.1);
  r(1, 1) = 1.1;
  EXPECT_EQ(refusal_of([&] { Correlations{r}; }), no_matrix);
  r(1, 1) = std::nan("");
  EXPECT_EQ(refusal_of([&] { Correlations{r}; }), no_matrix);
  EXPECT_EQ(refusal_of([&] { Correlations{Matrix<double>(2, 3)}; }), no_matrix);
}

TEST(Correlations, TellTheirPairsTheStrongestFirst) {
  const auto pairs = Correlations(of_three(0.2, -0.6, 0)).pairs();
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].first, 0u);
  EXPECT_EQ(pairs[0].second, 2u);
  EXPECT_EQ(pairs[0].correlation, -0.6);
  EXPECT_EQ(pairs[1].correlation, 0.2);
  const std::size_t turned[] = {2, 0};
  EXPECT_EQ(Correlations(of_three(0.2, -0.6, 0)).among(turned)(0, 1), -0.6);
}

TEST(Conformal, CountsEverySeriesOnceHoweverManyItsObservations) {
  // Three series weigh a quarter each; the last quarter is the new one, of which nothing is known.
  const std::vector<std::vector<double>> of_series{{0.1, 0.2, 0.3, 0.4}, {0.5}, {0.9}};
  const auto steps = conformal_steps(of_series);
  EXPECT_EQ(conformal_level(steps, 0.25), 0.4);
  EXPECT_EQ(conformal_level(steps, 0.26), 0.5);
  EXPECT_EQ(conformal_level(steps, 0.5), 0.5);
  EXPECT_EQ(conformal_level(steps, 0.75), 0.9);
  EXPECT_EQ(conformal_level(steps, 0.76), 1.0) << "three series cannot promise more";
  EXPECT_EQ(conformal_level({}, 0.1), 1.0);
}

TEST(Conformal, StepsThatAreLeftOutOnlyWiden) {
  std::vector<std::vector<double>> of_series(500);
  Generator random(1, "levels");
  for (auto& own : of_series)
    for (int k = 0; k < 5; ++k) own.push_back(random.uniform());
  const auto steps = conformal_steps(of_series);
  EXPECT_LT(steps.size(), 250u);
  std::vector<double> all;
  for (const auto& own : of_series) all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end());
  for (double promised = 0.01; promised < 0.998; promised += 0.0099) {
    // ⌈promised·(n + 1)·5⌉ of equal weights 1/(5(n + 1)).
    const auto exact = all[static_cast<std::size_t>(std::ceil(promised * 501 * 5 - 1e-9)) - 1];
    EXPECT_GE(conformal_level(steps, promised), exact) << promised;
    // A step may be late by kCloseness of what is not held.
    EXPECT_LE(conformal_level(steps, promised), exact + 0.07 * (1 - promised) + 0.005) << promised;
  }
  EXPECT_EQ(conformal_level(steps, 0.9), all[static_cast<std::size_t>(std::ceil(0.9 * 2505)) - 1])
      << "usual levels are exact";
}

// The guarantee by simulation, under a model that is badly wrong: it takes every error for a
// standard normal one, while series differ by their own scale and drift and have from 1 to 8
// observations.
TEST(Conformal, KeepsItsPromiseForANewSeriesWhateverTheModelIsWorth) {
  constexpr int kRounds = 4000, kSeries = 29;
  for (const double promised : {0.5, 0.8, 0.9}) {
    Generator random(7, "rounds");
    int held = 0;
    const auto errors = [&] {
      const double scale = std::exp(random.normal()), drift = random.normal();
      std::vector<double> levels(1 + static_cast<std::size_t>(8 * random.uniform()));
      for (double& level : levels) level = normal_central_level(scale * random.normal() + drift);
      return levels;
    };
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::vector<double>> calibration;
      for (int i = 0; i < kSeries; ++i) calibration.push_back(errors());
      const std::vector<double> fresh = errors();
      const double drawn =
          fresh[static_cast<std::size_t>(random.uniform() * static_cast<double>(fresh.size()))];
      held += drawn <= conformal_level(conformal_steps(calibration), promised);
    }
    const double share = static_cast<double>(held) / kRounds;
    const double noise = std::sqrt(promised * (1 - promised) / kRounds);
    EXPECT_GE(share, promised - 3 * noise) << promised;
    // One series in thirty is spent on the unknown one.
    EXPECT_LE(share, promised + 2.0 / 30 + 3 * noise) << promised;
  }
}

}  // namespace
}  // namespace edict
