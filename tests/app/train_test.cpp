// The use case of training: what is refused before data are read, and runs that are fresh, warm,
// resumed, of several members or limited in time, by what they leave behind.
#include "app/train/train.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/small_model.h"
#include "learn/ensemble_training.h"
#include "temporary_folder.h"

namespace edict::app {
namespace {

const std::vector<std::string> kTiny = {"model.hidden=6", "model.head_hidden=4",
                                        "model.encoder_width=3", "train.epochs=2",
                                        "model.step=0.5"};

TrainRequest tiny_request() {
  TrainRequest request;
  request.settings = {Config{}, kTiny};
  return request;
}

std::string refusal_of(const TrainRequest& request) {
  try {
    check(request);
  } catch (const Error& error) {
    return error.message(command_line_option);
  }
  return "accepted";
}

TrainedModel trained(const TrainRequest& request, const Dataset& data = small_synthetic()) {
  ThreadPool pool(2);
  return train(plan_training(data, request), data, request, pool);
}

TEST(Train, WhatCannotBeIsRefusedBeforeDataAreRead) {
  const TemporaryFolder folder;
  TrainRequest request = tiny_request();
  EXPECT_EQ(refusal_of(request), "accepted");
  request.budget = -1;
  EXPECT_EQ(refusal_of(request), "--budget: give seconds, or 0 for no limit");

  request = tiny_request();
  request.claim = true;
  EXPECT_EQ(refusal_of(request),
            "--claim: shares the members of an ensemble or the folds of a cross-validation among "
            "workers; give --members or --folds with it");
  request.members = 2;
  request.budget = 1;
  EXPECT_EQ(refusal_of(request), "--claim and --budget cannot be combined; leave one of them out");

  request = tiny_request();
  request.settings.assignments.push_back("train.epochz=3");
  EXPECT_EQ(refusal_of(request), "--set: unknown key 'train.epochz'; did you mean 'train.epochs'?");

  const std::string out = (folder.path() / "m").string();
  folder.write("m", "a model");
  request = tiny_request();
  request.out = out;
  EXPECT_EQ(refusal_of(request),
            out +
                ": already exists; give --resume to continue its training, --force to train anew "
                "and replace it, or another name");
  request.resume = true;
  EXPECT_EQ(refusal_of(request), out + ": its checkpoint " + out +
                                     ".checkpoint is missing, so its training cannot be continued; "
                                     "give --force to train anew and replace it, or another name");
  request.replace = true;
  EXPECT_EQ(refusal_of(request), "accepted");
  request.out = folder.path();
  EXPECT_NE(refusal_of(request).find("a model needs a file"), std::string::npos);
}

TEST(Train, AWarmStartHasItsSettingsAndIsASingleModel) {
  const TrainedModel first = trained(tiny_request());
  TrainRequest request;
  request.from = &first.model;
  request.from_name = "first.model";
  request.settings.assignments = {"train.epochs=1"};
  EXPECT_EQ(refusal_of(request), "accepted");
  const TrainedModel second = trained(request);
  EXPECT_EQ(second.model.config.model.hidden, 6);
  EXPECT_EQ(second.members.front().rows.front().epoch, 0) << "what it started from is row 0";
  EXPECT_EQ(second.model.protocol.standardisation.mean, first.model.protocol.standardisation.mean);

  request.settings.assignments = {"model.hidden=9"};
  EXPECT_EQ(refusal_of(request),
            "--set model.hidden=9: --from first.model is made already; only train.… and loss.… can "
            "be set");
  request.settings.assignments = {};
  request.members = 2;
  EXPECT_EQ(refusal_of(request),
            "--from: a model to start from has its settings, and is a single one; leave --config "
            "and --members out");
}

TEST(Train, ResumedRunsAndMembersAreTheBitsOfTheTrainer) {
  const TemporaryFolder folder;
  TrainRequest request = tiny_request();
  const TrainedModel whole = trained(request);
  request.out = folder.path() / "m";
  request.settings.assignments.back() = "train.epochs=1";
  request.settings.assignments.push_back("model.step=0.5");
  trained(request);
  request.resume = true;
  request.settings.assignments = kTiny;
  std::int64_t continued_after = -1;
  request.progress.on_start = [&](std::int64_t epochs_done) { continued_after = epochs_done; };
  const TrainedModel resumed = trained(request);
  EXPECT_EQ(continued_after, 1);
  EXPECT_EQ(resumed.model.first().params, whole.model.first().params);

  request = tiny_request();
  request.members = 2;
  std::vector<std::size_t> members;
  request.progress.on_run = [&](const TrainingRun& run) { members.push_back(run.member); };
  const TrainedModel several = trained(request);
  EXPECT_EQ(members, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(several.model.members[0].params, whole.model.first().params);
}

TEST(Train, ABudgetThatEndsBeforeAnEpochIsAnErrorAndLaterANote) {
  TrainRequest request = tiny_request();
  request.budget = 1e-9;
  try {
    trained(request);
    ADD_FAILURE() << "no machine trains an epoch in a nanosecond";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(command_line_option),
              "--budget: it ended before the first epoch did; give more time");
  }
  request.budget = 1.0;
  request.settings.assignments.push_back("train.epochs=1000000");
  request.settings.assignments.push_back("train.patience=0");
  request.begin = std::chrono::steady_clock::now();
  const TrainedModel stopped = trained(request);
  ASSERT_EQ(stopped.notes.size(), 1u);
  EXPECT_TRUE(with_options(stopped.notes[0], plain_option).starts_with("stopped by budget after "));
  EXPECT_TRUE(stopped.is_usable());
}

TEST(Train, AStoppedRunLeavesTheBestOfItsWholeEpochs) {
  std::atomic<bool> stop = false;
  TrainRequest request = tiny_request();
  request.settings.assignments.push_back("train.epochs=1000");
  request.stop = &stop;
  request.progress.on_epoch = [&](const EpochRow& row) { stop = row.epoch == 2; };
  const TrainedModel stopped = trained(request);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_TRUE(stopped.is_usable());
  EXPECT_EQ(stopped.members.front().rows.size(), 2u);
  stop = true;
  request.progress = {};
  EXPECT_FALSE(trained(request).is_usable()) << "not an epoch was complete";
}

TEST(Train, SettingsAreChosenByTheDataWhereNoneAreGiven) {
  TrainRequest request = tiny_request();
  request.settings.base.reset();
  const TrainPlan plan = plan_training(small_synthetic(), request);
  ASSERT_TRUE(plan.fitted);
  EXPECT_FALSE(plan.fitted->choices.empty());
  EXPECT_EQ(plan.model.config.model.hidden, 6);
  EXPECT_FALSE(plan_training(small_synthetic(), tiny_request()).fitted);
}

// A feature that is never observed, and gaps of many solver steps.
TEST(Train, WhatTheDataDoNotTeachIsNoted) {
  Dataset data = small_synthetic();
  data.features.push_back("never");
  TrainRequest request = tiny_request();
  request.settings.assignments.push_back("model.step=1e-4");
  const TrainPlan plan = plan_training(data, request);
  ASSERT_EQ(plan.notes.size(), 2u);
  EXPECT_EQ(plan.notes[0], "feature 'never' is never observed in the training split");
  EXPECT_TRUE(plan.notes[1].starts_with("the median gap between events is ")) << plan.notes[1];
}

}  // namespace
}  // namespace edict::app
