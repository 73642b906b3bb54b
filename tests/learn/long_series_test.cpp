// Long series: windows, the state that is carried into them, the split by time, and training that
// does not fail on them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/generator.h"
#include "data/pieces.h"
#include "judge/detailed_evaluation.h"
#include "learn/fit_settings.h"
#include "learn/listening_network.h"
#include "learn/posthoc/calibrate.h"
#include "learn/trainer.h"
#include "model/carry.h"
#include "model/infer.h"
#include "model/timelines.h"
#include "temporary_folder.h"

namespace edict {
namespace {

// A wave and a slow walk, at gaps that vary.
Dataset long_waves(std::size_t series, std::size_t events, double shift = 0) {
  Dataset data;
  data.features = {"wave", "walk"};
  for (std::size_t i = 0; i < series; ++i) {
    Generator random(1, "waves", i);
    data.add_series("s" + std::to_string(i));
    double time = shift * static_cast<double>(i), walk = 0, phase = random.uniform(0, 6);
    for (std::size_t e = 0; e < events; ++e) {
      const double gap = random.uniform(0.05, 0.15);
      time += gap;
      phase += gap;
      walk = 0.98 * walk + 0.2 * random.normal();
      data.add_event(time);
      data.add_observation(0, std::sin(phase) + 0.05 * random.normal());
      if (random.uniform() < 0.5) data.add_observation(1, walk);
    }
  }
  return data;
}

Config small_config(const Dataset& data) {
  const std::vector<std::string> given = {"model.hidden=12", "model.head_hidden=8",
                                          "model.encoder_width=4", "train.epochs=6"};
  return fit_settings(data, given).config;
}

TEST(LongSeries, WindowsOfAnEpochHoldEveryTrainingEventOnceAndNothingElse) {
  const Dataset data = in_pieces(long_waves(3, 700), 20);
  const Config config = small_config(data);
  ASSERT_EQ(config.data.split, SplitBy::time);
  const Split parts = split(data, config.data);
  const Model model = Model::create(config, data, parts);
  std::set<std::size_t> training;
  for (const std::size_t i : parts.train)
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e) training.insert(e);
  std::set<std::size_t> borders;
  for (const std::int64_t epoch : {0, 1}) {
    std::set<std::size_t> held;
    for (const Window& window : learnt_windows(model.protocol, data, parts.train, true, 0, epoch)) {
      EXPECT_LE(window.end - window.first, kLearntWindow + 16);
      borders.insert(window.first);
      for (std::size_t e = window.first; e < window.end; ++e)
        EXPECT_TRUE(held.insert(e).second) << e;
    }
    EXPECT_EQ(held, training);
  }
  EXPECT_GT(borders.size(), 10u) << "other windows in another epoch";
}

// The last pieces of each series are the test split: nothing that comes later is trained on.
TEST(LongSeries, NothingLaterTeachesWhatIsTested) {
  const Dataset data = in_pieces(long_waves(3, 700), 20);
  const Split parts = split(data, small_config(data).data);
  std::map<std::size_t, double> first_tested;
  for (const std::size_t i : parts.test) {
    double& first = first_tested.try_emplace(data.head_of(i), 1e30).first->second;
    first = std::min(first, data.times[data.first_event[i]]);
  }
  EXPECT_EQ(first_tested.size(), 3u);
  for (const auto* part : {&parts.train, &parts.validation})
    for (const std::size_t i : *part)
      EXPECT_LT(data.times[data.first_event[i]], first_tested.at(data.head_of(i)));
  EXPECT_GT(parts.validation.size(), 10u);
}

// A window that starts from the carried state answers as the series followed as a whole, bit for
// bit.
TEST(LongSeries, AreCalibratedByPiecesAfterAllThatWasTrainedOn) {
  const Dataset data = in_pieces(long_waves(3, 700), 20);
  const DataSettings settings = small_config(data).data;
  const Split parts = split(data, settings);
  const std::vector<std::size_t> later = after_training(data, settings, parts.validation);
  EXPECT_LT(later.size(), parts.validation.size());
  for (const std::size_t i : parts.validation) {
    const bool last = std::ranges::none_of(
        parts.train, [&](std::size_t t) { return t > i && data.head_of(t) == data.head_of(i); });
    EXPECT_EQ(std::ranges::binary_search(later, i), last) << data.ids[i];
  }
  const std::vector<std::size_t> early{parts.validation.front()};
  EXPECT_EQ(after_training(data, settings, early), early) << "nothing else is left";
}

// Windows that overlap err together. A piece of 20 events holds one that does not, since forecasts
// reach 32 events; the last piece of a series holds two, because its windows are cut short. Two
// windows a series hide values.
TEST(LongSeries, OverlappingWindowsCountOnceInACalibration) {
  const Dataset data = in_pieces(long_waves(3, 700), 20);
  const Config config = small_config(data);
  const Model model = Model::create(config, data, split(data, config.data));
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Timelines timelines = timelines_to_judge(model.protocol, config.data, data, all);
  const CalibrationHalves halves = calibration_halves(timelines);
  ASSERT_EQ(halves.window_of.size(), timelines.size());
  const std::set<std::size_t> windows(halves.window_of.begin(), halves.window_of.end());
  EXPECT_GT(timelines.size(), 500u);
  EXPECT_EQ(windows.size(), data.size() + 3 * 3);
}

TEST(LongSeries, WhatIsCarriedIsTheStateOfTheWholeSeries) {
  const Dataset whole = long_waves(2, 300), data = in_pieces(whole, 30);
  const Config config = small_config(data);
  const Model model = Model::create(config, data, split(data, config.data));
  ThreadPool pool(2);
  std::vector<Window> windows;
  for (const std::size_t i : {4u, 13u, 17u})
    windows.push_back({i, data.first_event[i], data.first_event[i], data.first_event[i + 1]});
  const auto states = carried_states(model, data, windows, pool);
  InferenceOptions options;
  for (std::size_t k = 0; k < windows.size(); ++k) {
    const std::size_t series = data.head_of(windows[k].series) == 0 ? 0 : 1;
    std::vector<Timeline<float>> both(2);
    // Everything before the window absorbed, then one query; and the same query from the state.
    both[0] = absorbing_timeline(model.protocol, whole, series, whole.first_event[series],
                                 windows[k].first);
    both[1].id = "window";
    both[1].start = model.protocol.to_model_time(data.times[windows[k].first - 1]);
    both[1].state = states[k];
    for (Timeline<float>& timeline : both)
      timeline.stop(model.protocol.to_model_time(data.times[windows[k].first]),
                    Timeline<float>::kQuery);
    const auto answers = infer(model, examples_of(both), pool, options);
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_EQ(answers[0].marginals[j].mean, answers[1].marginals[j].mean);
      EXPECT_EQ(answers[0].marginals[j].scale, answers[1].marginals[j].scale);
    }
  }
}

TEST(LongSeries, TrainWithoutFailingAndBeatTheLastValue) {
  for (const auto& [series, events] : {std::pair<std::size_t, std::size_t>{1, 3000}, {5, 1500}}) {
    const Dataset data = in_pieces(long_waves(series, events), 75);
    Config config = small_config(data);
    config.train.epochs = 40;
    const Split parts = split(data, config.data);
    Model model = Model::create(config, data, parts);
    ThreadPool pool(2);
    const TrainResult result = train(model, data, parts, pool, {});
    EXPECT_EQ(result.skipped_batches, 0);
    const Breakdown judged = evaluate_in_detail(model, data, parts.test, pool).breakdown;
    for (const auto& task : {judged.interpolation, judged.extrapolation}) {
      ASSERT_TRUE(task);
      EXPECT_GT(task->all.observations, 20u);
      EXPECT_LT(task->all.model.crps, task->all.last_value.crps) << series;
    }
  }
}

// Clocks of their own: when a series was measured says nothing about it (N3).
TEST(LongSeries, ShiftingEachSeriesByItsOwnConstantChangesNoScore) {
  const Dataset here = long_waves(40, 30), there = long_waves(40, 30, 1024.0);
  double scores[2][2];
  for (int k : {0, 1}) {
    const Dataset& data = k == 0 ? here : there;
    Config config = small_config(there);  // own clocks for both
    ASSERT_EQ(config.data.start, ClockStart::first);
    const Split parts = split(data, config.data);
    Model model = Model::create(config, data, parts);
    ThreadPool pool(1);
    train(model, data, parts, pool, {});
    const Evaluation judged = evaluate(model, data, parts.test, pool);
    ASSERT_TRUE(judged.extrapolation) << "forecasts are judged from a cut-off of each series";
    scores[k][0] = judged.interpolation->nll.mean;
    scores[k][1] = judged.extrapolation->crps.mean;
  }
  EXPECT_NEAR(scores[0][0], scores[1][0], 1e-5 * std::abs(scores[0][0]));
  EXPECT_NEAR(scores[0][1], scores[1][1], 1e-5 * std::abs(scores[0][1]));
}

// With a handful of held-out values every observation of the validation series is judged (N7).
TEST(LongSeries, NoEpochIsChosenByNothing) {
  const Dataset data = long_waves(12, 4);
  Config config = small_config(data);
  config.data.holdout = 0;
  config.data.cut_share = 0;
  config.data.t_cut = 1e30;
  const Split parts = split(data, config.data);
  Model model = Model::create(config, data, parts);
  ThreadPool pool(1);
  const TrainResult result = train(model, data, parts, pool, {});
  EXPECT_TRUE(result.validated);
  EXPECT_NE(result.rows[0].validation_nll, 0.0);
}

// Of the batches from `first` to before `last` the gradients are not finite.
class FaultyGradients : public testing::Test {
 protected:
  TrainResult trained(int first, int last) {
    Config config = small_config(data_);
    config.train.batch = config.train.chunk = 4;
    const Split parts = split(data_, config.data);
    model_ = Model::create(config, data_, parts);
    ThreadPool pool(1);
    int calls = 0;
    listen(model_, {{}, [&](float* grads) {
                      if (calls >= first && calls < last)
                        grads[0] = std::numeric_limits<float>::quiet_NaN();
                      ++calls;
                    }});
    TrainOptions options;
    options.out = folder_.path() / "m";
    return train(model_, data_, parts, pool, options);
  }

  const Dataset data_ = long_waves(40, 30);
  TemporaryFolder folder_;
  Model model_;
};

TEST_F(FaultyGradients, ABatchIsSkippedCountedAndAnsweredByALowerRate) {
  const TrainResult sound = trained(0, 0), result = trained(2, 4);
  EXPECT_EQ(sound.skipped_batches, 0);
  EXPECT_EQ(result.skipped_batches, 2);
  ASSERT_EQ(result.rows.size(), sound.rows.size());
  EXPECT_NEAR(result.rows[0].learning_rate, sound.rows[0].learning_rate / 4, 1e-12);
  for (const EpochRow& row : result.rows) EXPECT_TRUE(std::isfinite(row.validation_nll));
}

TEST_F(FaultyGradients, AnEpochThatCannotGoOnIsBegunAgain) {
  const TrainResult result = trained(2, 9);
  EXPECT_EQ(result.rows.size(), 6u);
  EXPECT_EQ(result.skipped_batches, 7);
}

TEST_F(FaultyGradients, ARunThatCannotRecoverIsOurFaultAndLeavesNoFile) {
  EXPECT_THROW(trained(20, 1 << 20), MachineError);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace edict
