// Members are the runs of their seeds, alone and resumed; classifiers and calibration follow.
#include "learn/ensemble_training.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ask/classification.h"
#include "base/json/json.h"
#include "engine/small_model.h"
#include "judge/evaluate.h"
#include "learn/classifier/classifier_training.h"
#include "learn/posthoc/calibrate.h"
#include "temporary_folder.h"

namespace edict {
namespace {

Config quick_config() {
  Config config = small_synthetic_config();
  config.model.hidden = 8;
  config.model.step = 0.5;
  config.train.epochs = 3;
  config.train.batch = 64;
  config.train.chunk = 32;
  config.classify.epochs = 3;
  return config;
}

Model fresh(const Config& config, std::int64_t seed) {
  Config own = config;
  own.train.seed = seed;
  return untrained_model(small_synthetic(), own);
}

EnsembleResult trained(const Config& config, std::size_t members, std::size_t threads,
                       TrainOptions training = {}) {
  ThreadPool pool(threads);
  const Split parts = split(small_synthetic(), config.data);
  EnsembleOptions options;
  options.members = members;
  options.training = std::move(training);
  return train_ensemble([&](std::int64_t seed) { return fresh(config, seed); }, config.train.seed,
                        small_synthetic(), parts, pool, options);
}

TEST(EnsembleTraining, MembersAreTheRunsOfTheirSeedsForEveryThreadCount) {
  const Config config = quick_config();
  const Model whole = trained(config, 3, 1).model;
  const Model again = trained(config, 3, 2).model;
  ASSERT_EQ(whole.members.size(), 3u);
  for (std::size_t m = 0; m < 3; ++m) {
    Model alone = fresh(config, static_cast<std::int64_t>(m));
    ThreadPool pool(2);
    train(alone, small_synthetic(), alone.split(small_synthetic()), pool, {});
    EXPECT_EQ(whole.members[m].params, alone.first().params) << m;
    EXPECT_EQ(again.members[m].params, alone.first().params) << m;
  }
}

TEST(EnsembleTraining, OfOneWritesWhatTrainingAloneWrites) {
  const TemporaryFolder folder;
  const Config config = quick_config();
  TrainOptions training;
  training.out = folder / "one";
  trained(config, 1, 1, training);
  Model alone = fresh(config, 0);
  ThreadPool pool(1);
  training.out = folder / "alone";
  train(alone, small_synthetic(), alone.split(small_synthetic()), pool, training);
  EXPECT_EQ(folder.read("one"), folder.read("alone"));
  EXPECT_EQ(folder.read("one.checkpoint"), folder.read("alone.checkpoint"));
  EXPECT_FALSE(folder.exists("one.members"));
}

TEST(EnsembleTraining, CanBeGivenMoreMembers) {
  const TemporaryFolder folder;
  const Config config = quick_config();
  TrainOptions training;
  training.out = folder / "m";
  training.resume = true;
  trained(config, 2, 2, training);
  int epochs = 0;
  training.on_epoch = [&](const EpochRow&) { ++epochs; };
  trained(config, 3, 2, training);
  EXPECT_EQ(epochs, 3) << "only the third member is trained";
  training.out = folder / "at once";
  training.resume = false;
  trained(config, 3, 2, training);
  EXPECT_EQ(folder.read("m"), folder.read("at once"));
}

TEST(EnsembleTraining, EachMemberGetsAClassifierAndProbabilitiesAreAveraged) {
  const Model frozen = trained(quick_config(), 2, 2).model;
  const Dataset& data = small_synthetic();
  ThreadPool pool(2);
  ClassifierOptions options;
  options.settings = quick_config().classify;
  const ClassifierResult result = train_classifier(frozen, data, frozen.split(data), pool, options);
  ASSERT_EQ(result.runs.size(), 6u);
  EXPECT_EQ(result.runs[3].member, 1u);
  const std::vector<std::size_t> all = every_series(data);
  const auto whole = class_probabilities(result.model, data, all, pool);
  const auto first = class_probabilities(result.model.member(0), data, all, pool);
  const auto second = class_probabilities(result.model.member(1), data, all, pool);
  bool differ = false;
  for (std::size_t k = 0; k < whole.values.size(); ++k) {
    EXPECT_NEAR(whole.values[k], 0.5 * (first.values[k] + second.values[k]), 1e-12);
    differ = differ || std::abs(first.values[k] - second.values[k]) > 1e-3;
  }
  EXPECT_TRUE(differ);
  const auto path = class_probabilities_over_time(result.model, data, all, {3.0}, pool);
  const auto path0 = class_probabilities_over_time(result.model.member(0), data, all, {3.0}, pool);
  const auto path1 = class_probabilities_over_time(result.model.member(1), data, all, {3.0}, pool);
  EXPECT_NEAR(path[5].values[0], 0.5 * (path0[5].values[0] + path1[5].values[0]), 1e-12);
}

// Calibrated members that disagree are too wide together: what counts is the calibration of all.
TEST(EnsembleTraining, CalibratesTheMembersTogether) {
  Config config = quick_config();
  config.train.calibrate = true;
  config.data.train = 0.4;
  config.data.validation = 0.5;
  ThreadPool pool(2);
  const Dataset& data = small_synthetic();
  std::vector<Model> alone;
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    alone.push_back(fresh(config, seed));
    train(alone.back(), data, alone.back().split(data), pool, {});
  }
  const auto of_first = to_json(alone.front().calibration);
  Model members = ensemble(std::move(alone));
  EXPECT_TRUE(members.calibration.empty());
  calibrate_trained(members, data, members.split(data).validation, pool);
  const auto of_all = to_json(trained(config, 2, 2).model.calibration);
  EXPECT_EQ(of_all, to_json(members.calibration));
  EXPECT_NE(of_all, of_first);
}

}  // namespace
}  // namespace edict
