// Looking from both sides: beside looking back alone and beside the exact smoother of a process
// that has one; and that a run with two networks is as repeatable as one with a single network.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <atomic>
#include <cmath>
#include <limits>

#include "ask/distribution.h"
#include "base/json/json.h"
#include "engine/small_model.h"
#include "learn/classifier/classifier_training.h"
#include "learn/ensemble_training.h"
#include "learn/warm_start.h"
#include "model/infer.h"
#include "protocol/holdout.h"
#include "research/import/ornstein_uhlenbeck.h"
#include "temporary_folder.h"

namespace edict {
namespace {

// ------------------------------------------------------------------- beside the exact smoother

struct Trained {
  Dataset data = generate_ornstein_uhlenbeck(1200, 3);
  Model model;

  Trained() {
    Config config;
    config.data.t_cut = 7.5;
    config.data.standardise = false;
    config.data.validation = 0.2;
    config.model.hidden = 24;
    config.model.head_hidden = 12;
    config.model.encoder_width = 8;
    config.model.propagator = Propagation::closed_form;
    config.train.epochs = 20;
    config.train.batch = 32;
    config.train.chunk = 16;
    config.train.learning_rate = 1e-2;
    config.train.schedule = Schedule::cosine;
    config.train.clip = 0;
    config.train.clip_norm = 1;
    config.train.calibrate = true;
    config.train.smooth = true;
    model = untrained_model(data, config);
    ThreadPool pool(0);
    train(model, data, model.split(data), pool, {});
  }

  std::vector<Timeline<float>> test_timelines() const {
    std::vector<Timeline<float>> timelines;
    for (const std::size_t i : model.split(data).test)
      timelines.push_back(evaluation_timeline(model.protocol, model.config.data, data, i));
    return timelines;
  }
};

const Trained& trained_process() {
  static const Trained trained;
  return trained;
}

// Given all that a timeline absorbs, by the joint Gaussian of these observations and the hidden
// one.
Marginal exact(const Timeline<float>& timeline, double time, std::int32_t feature) {
  const OrnsteinUhlenbeck process;
  struct Seen {
    double time;
    std::int32_t feature;
    double value;
  };
  std::vector<Seen> seen;
  for (const auto& stop : timeline.stops)
    if (stop.what & Timeline<float>::kAbsorb)
      for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
        seen.push_back({stop.time, timeline.feature[k], static_cast<double>(timeline.value[k])});
  const double stationary = process.sigma * process.sigma / (2 * process.theta);
  const auto covariance = [&](double s, std::int32_t i, double t, std::int32_t j) {
    return (i == j ? 1.0 : process.correlation) * stationary *
           std::exp(-process.theta * std::abs(s - t));
  };
  const auto level = [&](std::int32_t j) { return process.level[static_cast<std::size_t>(j)]; };
  const auto n = static_cast<Eigen::Index>(seen.size());
  Eigen::MatrixXd all(n, n);
  Eigen::VectorXd with(n), off(n);
  for (Eigen::Index a = 0; a < n; ++a) {
    const Seen& s = seen[static_cast<std::size_t>(a)];
    for (Eigen::Index b = 0; b < n; ++b) {
      const Seen& t = seen[static_cast<std::size_t>(b)];
      all(a, b) = covariance(s.time, s.feature, t.time, t.feature) +
                  (a == b ? process.noise * process.noise : 0.0);
    }
    with(a) = covariance(s.time, s.feature, time, feature);
    off(a) = s.value - level(s.feature);
  }
  const Eigen::LDLT<Eigen::MatrixXd> solved(all);
  const double mean = level(feature) + (n > 0 ? with.dot(solved.solve(off)) : 0.0);
  const double variance =
      stationary + process.noise * process.noise - (n > 0 ? with.dot(solved.solve(with)) : 0.0);
  return {mean, variance, 0, std::sqrt(variance), std::numeric_limits<double>::infinity()};
}

struct Score {
  double mse = 0, nll = 0, held = 0, values = 0;

  void add(const Marginal& expected, double x) {
    mse += (x - expected.mean) * (x - expected.mean);
    nll -= log_density(expected, x);
    held += central_level(expected, x) <= 0.9 ? 1 : 0;
    ++values;
  }
  Score mean() const { return {mse / values, nll / values, held / values, values}; }
};

TEST(Smoothing, ComesNearTheExactSmootherWhereFilteringCannot) {
  const Trained& trained = trained_process();
  ASSERT_FALSE(trained.model.fusion.empty());
  ThreadPool pool(0);
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::observed;
  const std::vector<Timeline<float>> timelines = trained.test_timelines();
  const auto both = infer_smoothed(trained.model, timelines, pool, options);
  const auto past = infer(trained.model, examples_of(timelines), pool, options);
  Score smoothed, filtered, best;
  for (std::size_t i = 0; i < timelines.size(); ++i) {
    std::size_t next = 0;
    each_observation(timelines[i], both[i],
                     [&](std::size_t s, std::int32_t feature, const Marginal& expected, double x) {
                       const Marginal& before = past[i].marginals[next++];
                       const double time = timelines[i].stops[s].time;
                       if (time >= 7.5) {
                         EXPECT_EQ(expected.mean, before.mean) << "nothing comes after a forecast";
                         EXPECT_EQ(expected.scale, before.scale);
                         return;
                       }
                       smoothed.add(expected, x);
                       filtered.add(before, x);
                       best.add(exact(timelines[i], time, feature), x);
                     });
  }
  smoothed = smoothed.mean(), filtered = filtered.mean(), best = best.mean();
  ASSERT_GT(best.values, 200);
  EXPECT_LT(smoothed.mse, 0.6 * filtered.mse);
  EXPECT_LT(smoothed.nll, filtered.nll - 0.2);
  // What is left to the exact smoother, for a small network and a short training.
  EXPECT_LT(smoothed.mse, 1.15 * best.mse);
  EXPECT_LT(smoothed.nll, best.nll + 0.1);
  EXPECT_NEAR(smoothed.held, 0.9, 3 * std::sqrt(0.9 * 0.1 / best.values));
}

// -------------------------------------------------------------------------------- how it is
// trained

Config quick_config() {
  Config config = small_synthetic_config();
  config.model.hidden = 8;
  config.model.step = 0.5;
  config.data.validation = 0.25;
  config.train.epochs = 3;
  config.train.batch = 64;
  config.train.chunk = 32;
  config.train.forecast = 0.3;
  config.train.thin = 0.2;
  config.train.smooth = true;
  config.classify.epochs = 2;
  return config;
}

Model quickly_trained(const Config& config, std::size_t threads, const TrainOptions& options = {},
                      bool* interrupted = nullptr) {
  Model model = untrained_model(small_synthetic(), config);
  ThreadPool pool(threads);
  const TrainResult result =
      train(model, small_synthetic(), model.split(small_synthetic()), pool, options);
  if (interrupted) *interrupted = result.interrupted;
  return model;
}

TEST(TrainSmooth, GivesTheSameBitsForEveryThreadCount) {
  const Model one = quickly_trained(quick_config(), 1), three = quickly_trained(quick_config(), 3);
  ASSERT_TRUE(one.has_backward());
  EXPECT_EQ(one.first().params, three.first().params);
  EXPECT_EQ(one.first().backward, three.first().backward);
  EXPECT_NE(one.first().params, one.first().backward);
  ASSERT_FALSE(one.fusion.empty());
  EXPECT_EQ(to_json(one.fusion), to_json(three.fusion));
}

TEST(TrainSmooth, LeavesTheForwardNetworkAsItIsWithoutIt) {
  Config alone = quick_config();
  alone.train.smooth = false;
  const Model model = quickly_trained(alone, 2);
  EXPECT_FALSE(model.has_backward());
  EXPECT_EQ(model.first().params, quickly_trained(quick_config(), 2).first().params);
}

TEST(TrainSmooth, GoesOnWhereverItWasStopped) {
  const TemporaryFolder folder;
  TrainOptions options;
  options.out = folder / "whole";
  quickly_trained(quick_config(), 2, options);
  for (const int stopped_after : {2, 3, 4, 6}) {
    std::atomic<bool> stop = false;
    int epochs = 0;
    options.out = folder / ("m" + std::to_string(stopped_after));
    options.stop = &stop;
    options.on_epoch = [&](const EpochRow&) { stop = ++epochs == stopped_after; };
    bool interrupted = false;
    quickly_trained(quick_config(), 1, options, &interrupted);
    EXPECT_TRUE(interrupted) << stopped_after;
    options.resume = true;
    options.stop = nullptr;
    quickly_trained(quick_config(), 2, options, &interrupted);
    EXPECT_FALSE(interrupted);
    EXPECT_EQ(epochs, 6) << "none is trained twice";
    EXPECT_EQ(folder.read(options.out.filename().string()), folder.read("whole")) << stopped_after;
  }
}

TEST(TrainSmooth, FusesWhatTheMembersOfAnEnsembleSay) {
  const Config config = quick_config();
  const TemporaryFolder folder;
  ThreadPool pool(2);
  EnsembleOptions options;
  options.members = 2;
  options.training.out = folder / "e";
  const EnsembleResult result = train_ensemble(
      [&](std::int64_t seed) {
        Config own = config;
        own.train.seed = seed;
        return untrained_model(small_synthetic(), own);
      },
      0, small_synthetic(), split(small_synthetic(), config.data), pool, options);
  const Model loaded = load_model(folder / "e");
  EXPECT_TRUE(loaded.has_backward());
  EXPECT_EQ(loaded.members[1].backward, result.model.members[1].backward);
  EXPECT_FALSE(loaded.fusion.empty());
  EXPECT_EQ(loaded.first().backward, quickly_trained(config, 1).first().backward);
  EXPECT_EQ(result.members[1].backward_rows.size(), 3u);
}

TEST(TrainSmooth, IsWeighedAgainWhereTheForwardNetworkChanges) {
  const Model model = quickly_trained(quick_config(), 2);
  const Dataset& data = small_synthetic();
  ThreadPool pool(2);
  ClassifierOptions options;
  options.settings = model.config.classify;
  const Model frozen = train_classifier(model, data, model.split(data), pool, options).model;
  EXPECT_EQ(to_json(frozen.fusion), to_json(model.fusion));
  options.settings.fine_tune = 1;
  options.settings.fine_tune_rate = 1e-2;
  const Model tuned = train_classifier(model, data, model.split(data), pool, options).model;
  EXPECT_EQ(tuned.first().backward.head(model.first().backward.size()), model.first().backward);
  ASSERT_FALSE(tuned.fusion.empty());
  EXPECT_NE(to_json(tuned.fusion), to_json(model.fusion));

  Model more = warm_start(model, {}, "m");
  const Split parts = split_for_more_training(more, data);
  TrainOptions further;
  further.start_counts = true;
  const TrainResult result = train(more, data, parts, pool, further);
  ASSERT_EQ(result.backward_rows.size(), 4u);
  EXPECT_EQ(result.backward_rows.front().epoch, 0) << "it begins with the network it had";
}

TEST(TrainSmooth, NeedsADistributionAndSomethingHidden) {
  Config config = quick_config();
  config.data.holdout = 0;
  EXPECT_NE(refusal_of([&] { validate(config); }).find("train.smooth needs hidden values"),
            std::string::npos);
  config = quick_config();
  config.model.kind = "gru-d";
  EXPECT_EQ(refusal_of([&] { quickly_trained(config, 1); }),
            "train.smooth: gru-d has no distribution to smooth; leave it out");
}

}  // namespace
}  // namespace edict
