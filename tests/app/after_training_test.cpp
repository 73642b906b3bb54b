// Use cases that follow training or repeat it: calibration, classification, cross-validation.
#include <gtest/gtest.h>

#include "app/train/calibrate.h"
#include "app/train/classify.h"
#include "app/train/cross_validate.h"
#include "base/error.h"
#include "engine/small_model.h"
#include "temporary_folder.h"

namespace edict::app {
namespace {

template <class Action>
std::string command_line_refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.message(command_line_option);
  }
  return "accepted";
}

TEST(Calibrate, IsJudgedByTheSeriesThatDidNotFitItAndMarksThemAsSeen) {
  const Model& trained = small_trained_model();
  const Dataset fresh = [] {
    Dataset data = generate_synthetic(200, 6);
    for (std::string& id : data.ids) id = "new-" + id;
    return data;
  }();
  ThreadPool pool(2);
  const CalibrateResult result = calibrate(trained.member(0), fresh, {"unseen"}, pool);
  EXPECT_FALSE(result.judged_by_all);
  EXPECT_GT(result.judged, 50u);
  EXPECT_LT(result.judged, 150u);
  EXPECT_FALSE(result.model.calibration.empty());
  EXPECT_LT(result.after.evaluation.interpolation->nll.mean, result.before.interpolation->nll.mean);
  EXPECT_TRUE(result.model.split(fresh).unseen.empty());
  EXPECT_EQ(
      command_line_refusal([&] { calibrate(trained.member(0), fresh, {"validation"}, pool); }),
      "none of the series is in the model's validation split; give the data it was trained "
      "on, or calibrate on new series with --split unseen");
  EXPECT_EQ(command_line_refusal([&] { check({"test"}, trained); }),
            "--split test: give validation or unseen");
}

TEST(Classify, TakesItsOwnSettingsOnlyAndNotesWhatIsLeftOut) {
  const Model& trained = small_trained_model();
  Dataset data = small_synthetic();
  ClassifyRequest request;
  request.assignments = {"classify.epochs=2"};
  request.seeds = {3};
  request.evaluate = true;
  EXPECT_EQ(settings_of(request, trained).epochs, 2);
  data.labels.edit()[trained.split(data).train.front()] = -1;
  ThreadPool pool(2);
  const ClassifyResult result = classify(trained, data, request, pool);
  EXPECT_EQ(result.classifier.runs.size(), 1u);
  EXPECT_EQ(result.notes, std::vector<std::string>{"1 series without a label is left out"});
  ASSERT_TRUE(result.validation);
  EXPECT_EQ(result.validation->classes, data.classes);

  request.assignments = {"train.epochs=2"};
  EXPECT_EQ(command_line_refusal([&] { settings_of(request, trained); }),
            "--set train.epochs=2: the model is trained already; only classify.… and readout.… can "
            "be set");
}

TEST(CrossValidate, RefusesWhatItCouldNotKeep) {
  const TemporaryFolder folder;
  CrossValidateRequest request;
  const auto refusal = [&] { return command_line_refusal([&] { check(request); }); };
  EXPECT_EQ(refusal(), "accepted");
  request.claim = true;
  EXPECT_EQ(refusal(), "--claim: workers share a folder; name it with --out");
  request.claim = false;
  request.resume = true;
  EXPECT_EQ(refusal(),
            "--resume: a cross-validation continues from the models of its folds; name their "
            "folder with --out");
  request.resume = false;
  folder.write("kept/fold-1.model", "a model");
  request.out = folder.path() / "kept";
  EXPECT_NE(refusal().find("already holds the models of folds; give --resume"), std::string::npos);
  request.replace = true;
  EXPECT_EQ(refusal(), "accepted");
  request.out = folder.path() / "kept/fold-1.model";
  EXPECT_NE(refusal().find("is a file; with --folds, --out names a folder"), std::string::npos);
}

TEST(CrossValidate, EachSeriesIsJudgedOnceAndRunsAreAnnouncedByFold) {
  CrossValidateRequest request;
  request.config = small_synthetic_config();
  request.config.model.hidden = 6;
  request.config.model.step = 0.5;
  request.config.train.epochs = 1;
  request.config.classify.epochs = 1;
  request.folds = 3;
  std::vector<std::size_t> folds;
  request.progress.on_run = [&](const TrainingRun& run) { folds.push_back(run.fold); };
  ThreadPool pool(2);
  const CrossValidation result = cross_validate(small_synthetic(), request, pool);
  EXPECT_EQ(folds, (std::vector<std::size_t>{0, 1, 2}));
  std::size_t judged = 0;
  for (const FoldResult& fold : result.folds) {
    judged += fold.judged;
    EXPECT_TRUE(fold.classification);
  }
  const Split parts = split(small_synthetic(), request.config.data);
  EXPECT_EQ(judged, parts.train.size() + parts.validation.size());
}

}  // namespace
}  // namespace edict::app
