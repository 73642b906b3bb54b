// What the trainer's loop gives a batch to learn from, and that its chunks add up.
#include "learn/gradient_sum.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <set>

#include "base/threads/interrupted.h"
#include "engine/small_model.h"
#include "learn/checkpoint.h"
#include "learn/listening_network.h"
#include "learn/trainer.h"
#include "temporary_folder.h"

namespace edict {
namespace {

struct Asked {
  double absorb_until;
  double start, end;                // of the timeline
  std::size_t observations, whole;  // with and without train.thin
  std::uint64_t dropout_key;
};

// Remembers the batches that a model learns from; a chunk holds a whole one.
class Recorder {
 public:
  Recorder(Model& model, const TrainingSet& set) {
    for (const auto& timeline : set.train.written()) whole_[timeline.id] = timeline;
    listen(model, {[this](std::span<const Example> examples, const LossWeights& weights) {
                     record(examples, weights);
                   },
                   {}});
  }

  // All batches of the epoch together, by id.
  std::map<std::string, Asked> epoch(std::size_t number, std::size_t batches_each) const {
    std::map<std::string, Asked> all;
    for (std::size_t b = 0; b < batches_each; ++b)
      all.insert(batches[number * batches_each + b].begin(),
                 batches[number * batches_each + b].end());
    return all;
  }

  std::vector<std::map<std::string, Asked>> batches;
  std::size_t interrupt_at = 0;  // counted from 1

 private:
  void record(std::span<const Example> examples, const LossWeights& weights) {
    double observations = 0;
    auto& batch = batches.emplace_back();
    for (const Example& e : examples) {
      const Timeline<float>& whole = whole_.at(e.timeline->id);
      batch[whole.id] = {e.absorb_until,          whole.start,
                         whole.stops.back().time, e.timeline->feature.size(),
                         whole.feature.size(),    e.dropout_key};
      observations += static_cast<double>(e.timeline->feature.size());
    }
    EXPECT_EQ(batch.size(), examples.size()) << "a series stands twice in a batch";
    EXPECT_DOUBLE_EQ(weights.scale, 1 / observations) << "a mean over the batch's observations";
    if (batches.size() == interrupt_at) throw Interrupted();
  }

  std::map<std::string, Timeline<float>> whole_;
};

// 210 training series: six batches of 32 and one of 18, each of one chunk.
class Batches : public testing::Test {
 protected:
  static constexpr std::size_t kBatches = 7;

  Batches() {
    config_.train.epochs = 3;
    config_.train.batch = 32;
    config_.train.chunk = 32;
    config_.model.hidden = 8;
    config_.model.step = 0.5;
  }

  Model fresh() const { return untrained_model(data_, config_); }
  TrainSettings settings() const { return config_.train; }

  const Dataset& data_ = small_synthetic();
  Config config_ = small_synthetic_config();
  ThreadPool pool_{2};
};

TEST_F(Batches, EveryEpochAsksForEverySeriesOnceInAnotherOrder) {
  Model model = fresh();
  const TrainingSet set = distribution_training_set(model, data_, model.split(data_));
  Recorder recorder(model, set);
  train(model, set, settings(), pool_, {});
  ASSERT_EQ(recorder.batches.size(), 3 * kBatches);
  std::set<std::set<std::string>> first_batches;
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(recorder.epoch(epoch, kBatches).size(), set.train.size());
    std::set<std::string> ids;
    for (const auto& [id, _] : recorder.batches[epoch * kBatches]) ids.insert(id);
    first_batches.insert(ids);
  }
  EXPECT_EQ(first_batches.size(), 3u) << "the order is drawn anew";
}

TEST_F(Batches, ThinningDrawsAShareOfEachSeriesAnewEachEpoch) {
  config_.train.thin = 0.3;
  Model model = fresh();
  const TrainingSet set = distribution_training_set(model, data_, model.split(data_));
  Recorder recorder(model, set);
  train(model, set, settings(), pool_, {});
  const auto first = recorder.epoch(0, kBatches), second = recorder.epoch(1, kBatches);
  double kept = 0, all = 0;
  std::size_t same = 0;
  for (const auto& [id, asked] : first) {
    EXPECT_LE(asked.observations, asked.whole);
    kept += static_cast<double>(asked.observations);
    all += static_cast<double>(asked.whole);
    same += asked.observations == second.at(id).observations;
  }
  EXPECT_NEAR(kept / all, 0.7, 4 * std::sqrt(0.7 * 0.3 / all));  // four standard errors
  EXPECT_LT(same, first.size() / 2) << "about one in ten by chance";
}

// Of 210 series a share of 0.4 forecasts, give or take four standard errors of 0.034, each from a
// moment that is uniform over the series: its mean is a half, the standard error of 84 is 0.032.
TEST_F(Batches, ForecastingDrawsItsSeriesAndMomentsAnewEachEpoch) {
  config_.train.forecast = 0.4;
  Model model = fresh();
  const TrainingSet set = distribution_training_set(model, data_, model.split(data_));
  Recorder recorder(model, set);
  train(model, set, settings(), pool_, {});
  std::vector<std::set<std::string>> forecasting(3);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    double moments = 0;
    for (const auto& [id, asked] : recorder.epoch(epoch, kBatches)) {
      if (std::isinf(asked.absorb_until)) continue;
      forecasting[epoch].insert(id);
      EXPECT_GE(asked.absorb_until, asked.start);
      EXPECT_LE(asked.absorb_until, asked.end);
      moments += (asked.absorb_until - asked.start) / (asked.end - asked.start);
    }
    const auto count = static_cast<double>(forecasting[epoch].size());
    EXPECT_NEAR(count / 210, 0.4, 0.136) << epoch;
    EXPECT_NEAR(moments / count, 0.5, 0.128) << epoch;
  }
  EXPECT_NE(forecasting[0], forecasting[1]);
  EXPECT_NE(forecasting[1], forecasting[2]);
}

// Off, nothing is thinned, everything is absorbed, and only the dropout keys differ.
TEST_F(Batches, WithoutDrawsEverythingIsAbsorbed) {
  Model model = fresh();
  const TrainingSet set = distribution_training_set(model, data_, model.split(data_));
  Recorder recorder(model, set);
  train(model, set, settings(), pool_, {});
  std::set<std::uint64_t> keys;
  for (std::size_t epoch = 0; epoch < 3; ++epoch)
    for (const auto& [id, asked] : recorder.epoch(epoch, kBatches)) {
      EXPECT_EQ(asked.observations, asked.whole);
      EXPECT_TRUE(std::isinf(asked.absorb_until));
      keys.insert(asked.dropout_key);
    }
  EXPECT_EQ(keys.size(), 3 * set.train.size());
}

// A class is told from everything, even where the distribution learns to forecast.
TEST_F(Batches, ClassesAreNeverForecast) {
  config_.train.forecast = 1.0;
  Model model = Model::create(config_, data_, fresh().split(data_), true);
  TrainingSet set = joint_training_set(model, data_, model.split(data_), 1.0);
  Recorder recorder(model, set);
  train(model, set, settings(), pool_, {});
  for (const auto& [id, asked] : recorder.epoch(0, kBatches))
    EXPECT_TRUE(std::isinf(asked.absorb_until)) << id;
}

// ---------------------------------------------------------------------------- interruption

// Interrupted in the middle of the second epoch, inside a batch: the first epoch is what there is,
// in memory and on disk, and the resumed run ends in the bits of one that never stopped.
TEST_F(Batches, AnInterruptionInsideABatchKeepsTheLastCompleteEpoch) {
  const TemporaryFolder folder;
  config_.train.thin = 0.1;
  config_.train.forecast = 0.3;
  Model whole = fresh();
  const Split parts = whole.split(data_);
  std::vector<Vector<float>> after;
  TrainOptions options;
  options.out = folder / "whole";
  options.on_epoch = [&](const EpochRow&) { after.push_back(whole.first().params); };
  train(whole, data_, parts, pool_, options);

  Model model = fresh();
  const TrainingSet set = distribution_training_set(model, data_, parts);
  Recorder recorder(model, set);
  recorder.interrupt_at = kBatches + 3;
  TrainOptions stopped;
  stopped.out = folder / "parts";
  const TrainResult result = train(model, data_, parts, pool_, stopped);
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.stopped_early);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(model.first().params, after[0]) << "half an epoch has left its traces";
  EXPECT_EQ(load_model(folder / "parts").first().params, after[0]);
  const auto checkpoint = folder / "parts.checkpoint";
  EXPECT_EQ(from_tensors(read_tensors(checkpoint), checkpoint).first().params, after[0]);

  Model resumed = fresh();
  TrainOptions rest;
  rest.out = folder / "parts";
  rest.resume = true;
  EXPECT_EQ(train(resumed, data_, parts, pool_, rest).resumed_from, 1);
  EXPECT_EQ(resumed.first().params, whole.first().params);
  EXPECT_EQ(folder.read("parts"), folder.read("whole"));
  EXPECT_EQ(folder.read("parts.checkpoint"), folder.read("whole.checkpoint"));
  EXPECT_EQ(folder.read("parts.metrics.csv"), folder.read("whole.metrics.csv"));
}

TEST_F(Batches, AnInterruptionInTheFirstEpochLeavesNoFile) {
  const TemporaryFolder folder;
  Model model = fresh();
  const Vector<float> initial = model.first().params;
  const TrainingSet set = distribution_training_set(model, data_, model.split(data_));
  Recorder recorder(model, set);
  recorder.interrupt_at = 4;
  TrainOptions options;
  options.out = folder / "m";
  const TrainResult result = train(model, data_, model.split(data_), pool_, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.rows.empty());
  EXPECT_EQ(model.first().params, initial);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Batches, AStopFlagIsSeenBetweenBatches) {
  std::atomic<bool> stop = false;
  std::int64_t last = 0;
  TrainOptions options;
  options.stop = &stop;
  options.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t, const LossSums&) {
    last = batch;
    if (epoch == 2 && batch == 3) stop = true;
  };
  Model model = fresh();
  const TrainResult result = train(model, data_, model.split(data_), pool_, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(last, 3);
}

// A finished run whose model was moved away writes it again.
TEST_F(Batches, AResumedRunThatIsFinishedWritesAMissingModel) {
  const TemporaryFolder folder;
  TrainOptions options;
  options.out = folder / "m";
  Model model = fresh();
  train(model, data_, model.split(data_), pool_, options);
  const std::string written = folder.read("m");
  std::filesystem::remove(folder / "m");
  options.resume = true;
  Model again = fresh();
  train(again, data_, again.split(data_), pool_, options);
  EXPECT_EQ(folder.read("m"), written);
}

// ---------------------------------------------------------------------------- sums

// The chunks' gradients added up are the gradient of the batch, and the losses too: floats added
// in another order differ by rounding, 1e-5 of the largest entry.
TEST_F(Batches, ChunksAddUpToTheBatch) {
  const Model model = fresh();
  const TrainingSet set = distribution_training_set(model, data_, model.split(data_));
  std::vector<Example> examples;
  const std::vector<Timeline<float>> timelines = set.train.written();
  for (std::size_t i = 0; i < 50; ++i) examples.push_back({&timelines[i]});
  const LossWeights weights{0.01, 0.01, 0.05, 0};
  Vector<float> whole, parts;
  const LossSums a =
      GradientSum(*model.network, 50, pool_).batch(model.first().params, examples, weights, whole);
  GradientSum seven(*model.network, 7, pool_);
  seven.batch(model.first().params, std::span(examples).first(3), weights,
              parts);  // leaves nothing behind
  const LossSums b = seven.batch(model.first().params, examples, weights, parts);
  EXPECT_NE(parts, whole) << "one chunk after all";
  EXPECT_LE((parts - whole).cwiseAbs().maxCoeff(), 1e-5f * whole.cwiseAbs().maxCoeff());
  EXPECT_NEAR(a.nll, b.nll, 1e-5 * std::abs(a.nll));
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.series, b.series);
}

}  // namespace
}  // namespace edict
