// Training within a given time, and training on from trained parameters.
#include "edict/train/budget.h"

#include <gtest/gtest.h>

#include "edict/train/trainer.h"
#include "engine/small_model.h"
#include "temporary_folder.h"

namespace edict {
namespace {

using Steady = std::chrono::steady_clock;

Config tiny(std::int64_t epochs) {
  Config config = small_synthetic_config();
  config.model.hidden = 6;
  config.train.epochs = epochs;
  return config;
}

TEST(Budget, EpochsKeepATenthOfTheTimeInReserve) {
  EXPECT_EQ(epochs_within(100, 1, 1000), 90);
  EXPECT_EQ(epochs_within(100, 1, 60), 60);
  EXPECT_EQ(epochs_within(100, 91, 60), 0);
  EXPECT_EQ(epochs_within(-5, 1, 60), 0);
  EXPECT_EQ(epochs_within(1e9, 0, 60), 60);
}

TEST(Budget, MeasuringChangesNothing) {
  const Dataset data = generate_synthetic(300, 3);
  const Model model = untrained_model(data, tiny(3));
  const Vector<float> before = model.params;
  ThreadPool pool(1);
  EXPECT_GT(measure_epoch(model, data, model.split(data), pool), 0);
  EXPECT_EQ(model.params, before);
  EXPECT_EQ(model.config.train.epochs, 3);
}

TEST(Budget, ADeadlineEndsTheRunAfterWholeEpochs) {
  const Dataset data = generate_synthetic(100, 3);
  Model model = untrained_model(data, tiny(1'000'000));
  const Split parts = model.split(data);
  ThreadPool pool(1);
  TrainOptions options;
  options.deadline = Steady::now() + std::chrono::seconds(1);
  const TrainResult result = train(model, data, parts, pool, options);
  EXPECT_TRUE(result.out_of_time);
  EXPECT_FALSE(result.interrupted);
  ASSERT_FALSE(result.rows.empty());
  EXPECT_LT(result.rows.size(), 1'000'000u);

  // Up to there nothing differs from a run that was never bounded, at a rate that does not depend
  // on the number of epochs.
  Model same = untrained_model(data, tiny(static_cast<std::int64_t>(result.rows.size())));
  const TrainResult whole = train(same, data, parts, pool, {});
  EXPECT_EQ(whole.rows.back().validation_nll, result.rows.back().validation_nll);
  EXPECT_EQ(same.params, model.params);
}

TEST(Budget, ADeadlineThatIsOverLeavesTheModelAsItWas) {
  const Dataset data = generate_synthetic(100, 3);
  Model model = untrained_model(data, tiny(5));
  const Vector<float> before = model.params;
  ThreadPool pool(1);
  TrainOptions options;
  options.deadline = Steady::now() - std::chrono::seconds(1);
  const TrainResult result = train(model, data, model.split(data), pool, options);
  EXPECT_TRUE(result.out_of_time);
  EXPECT_TRUE(result.rows.empty());
  EXPECT_EQ(model.params, before);
}

// Steps so large that every epoch is worse than what it began with: that is what stays, in memory
// and on disk, and a resumed run knows it too.
TEST(WarmStart, WhatTrainingStartedFromMayBeTheBest) {
  const Model& trained = small_trained_model();
  const Dataset& data = small_synthetic();
  const TemporaryFolder folder;
  save_model(trained, folder / "before");
  Model model = load_model(folder / "before");
  model.config.train.epochs = 2;
  model.config.train.learning_rate = 0.1;
  ThreadPool pool(1);
  TrainOptions options;
  options.out = folder / "m";
  options.start_counts = true;
  TrainResult result = train(model, data, model.split(data), pool, options);
  ASSERT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(result.rows[0].epoch, 0);
  EXPECT_TRUE(result.rows[0].best);
  EXPECT_FALSE(result.rows[2].best);
  EXPECT_EQ(model.params, trained.params);
  EXPECT_EQ(load_model(folder / "m").params, trained.params);

  Model again = load_model(folder / "before");
  again.config.train = model.config.train;
  options.resume = true;
  result = train(again, data, again.split(data), pool, options);
  EXPECT_EQ(result.resumed_from, 2);
  EXPECT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(again.params, trained.params);
}

}  // namespace
}  // namespace edict
