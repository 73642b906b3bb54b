// A whole plan through the library: what is left out, what fails, what is taken as it is.
#include "research/study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "data/read/csv/csv.h"
#include "research/import/synthetic.h"
#include "temporary_folder.h"

namespace edict::study {
namespace {

constexpr const char* kSmall =
    "[data]\nt_cut = 9.4\n[model]\nhidden = 6\nhead_hidden = 4\nencoder_width = 3\nstep = 0.5\n"
    "[train]\nepochs = 1\nbatch = 16\n";

class StudyTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("small.toml", kSmall);
    options_.out = folder_ / "out";
    options_.data = folder_.path();
    options_.threads = 1;
    options_.line = [this](const std::string& text) { lines_.push_back(text); };
  }

  // A plan of one dataset and these experiments.
  Plan plan(const std::string& experiments, const std::string& dataset = "") {
    folder_.write(
        "plan.toml",
        "levels = [0]\nseeds = [0, 1]\n" +
            (dataset.empty() ? "[[dataset]]\nname = \"synthetic\"\nseries = 60\n" : dataset) +
            experiments);
    return read_plan(folder_ / "plan.toml");
  }
  bool said(const std::string& what) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return line.find(what) != std::string::npos;
    });
  }

  const std::string small_ = "[[experiment]]\nmethod = \"A\"\npreset = \"small.toml\"\n";
  const std::string ward_ = "[[dataset]]\nname = \"ward\"\nfile = \"ward.csv\"\n";
  TemporaryFolder folder_;
  StudyOptions options_;
  std::vector<std::string> lines_;
};

TEST_F(StudyTest, AModelWithADistributionIsTrainedOnceOneWithoutFromEverySeed) {
  const Study study =
      conduct(plan(small_ + "[[experiment]]\nmethod = \"D\"\npreset = \"small.toml\"\n"
                            "set = [\"model.kind=gru-d\"]\n"),
              options_);
  ASSERT_EQ(study.runs.size(), 3u);
  EXPECT_EQ(study.failures(), 0u);
  EXPECT_EQ(study.runs[0].method, "A");
  EXPECT_TRUE(study.runs[0].results.evaluation);
  // Each meets the noise of its own seed.
  for (const std::int64_t seed : {0, 1}) {
    const StudiedRun& run = study.runs[static_cast<std::size_t>(1 + seed)];
    EXPECT_EQ(run.method, "D");
    EXPECT_EQ(run.seed, seed);
    ASSERT_TRUE(run.results.stress);
    EXPECT_EQ(run.results.stress->seeds, (std::vector<std::int64_t>{seed}));
  }
}

TEST_F(StudyTest, FinishedRunsAreTakenAsTheyAre) {
  const Plan planned = plan(small_);
  const Study first = conduct(planned, options_);
  const auto model = options_.out / "runs" / first.runs[0].folder / "model";
  const auto written = std::filesystem::last_write_time(model);
  const Study again = conduct(planned, options_);
  EXPECT_TRUE(said("1 of 1 runs are finished already"));
  EXPECT_EQ(std::filesystem::last_write_time(model), written);
  EXPECT_EQ(again.runs[0].folder, first.runs[0].folder);
  EXPECT_EQ(again.runs[0].results.evaluation->interpolation->nll.mean,
            first.runs[0].results.evaluation->interpolation->nll.mean);
}

TEST_F(StudyTest, ChangedDataAreAnotherRun) {
  const Plan planned = plan(small_, ward_);
  write_csv(generate_synthetic(60, 0), folder_ / "ward.csv");
  const std::string first = conduct(planned, options_).runs[0].folder;
  EXPECT_EQ(conduct(planned, options_).runs[0].folder, first);
  write_csv(generate_synthetic(60, 1), folder_ / "ward.csv");
  const Study changed = conduct(planned, options_);
  EXPECT_NE(changed.runs[0].folder, first);
  EXPECT_TRUE(changed.runs[0].results.training);
}

TEST_F(StudyTest, MissingDataAreLeftOutUnlessTheyWereAskedFor) {
  const Plan planned = plan(small_, ward_);
  const Study study = conduct(planned, options_);
  EXPECT_TRUE(study.runs.empty());
  EXPECT_TRUE(said("left out: ward"));
  options_.need_all = true;
  EXPECT_THROW(conduct(planned, options_), Error);
}

TEST_F(StudyTest, AFailureIsKeptAndTheOthersGoOn) {
  const Study study = conduct(
      plan("[[experiment]]\nmethod = \"Missing\"\npreset = \"missing.toml\"\n" + small_), options_);
  ASSERT_EQ(study.runs.size(), 2u);
  EXPECT_EQ(study.failures(), 1u);
  ASSERT_TRUE(study.runs[0].failure);
  EXPECT_NE(study.runs[0].failure->find("missing.toml"), std::string::npos);
  EXPECT_TRUE(study.runs[0].folder.empty());
  EXPECT_FALSE(study.runs[0].results.training);
  EXPECT_TRUE(study.runs[1].results.stress);
}

TEST_F(StudyTest, AModelThatNeedsLabelsFailsOnDataWithout) {
  Dataset data = generate_synthetic(60, 0);
  data.classes.clear();
  for (auto& label : data.labels.edit()) label = Dataset::kNone;
  write_csv(data, folder_ / "ward.csv");
  const Study study = conduct(plan("[[experiment]]\nmethod = \"D\"\npreset = \"small.toml\"\n"
                                   "set = [\"model.kind=gru-d\"]\n",
                                   ward_),
                              options_);
  ASSERT_FALSE(study.runs.empty());
  ASSERT_TRUE(study.runs[0].failure);
  EXPECT_NE(study.runs[0].failure->find("label"), std::string::npos) << *study.runs[0].failure;
}

// More levels in the plan: what does not depend on them is taken as it is.
TEST_F(StudyTest, AnotherPlanInTheSameFolderRedoesOnlyWhatItChanges) {
  const Study first = conduct(plan(small_), options_);
  const auto folder = options_.out / "runs" / first.runs[0].folder;
  const std::string model = content(folder / "model"),
                    evaluation = content(folder / "evaluate.json");
  const auto trained = std::filesystem::last_write_time(folder / "model");
  Plan more = plan(small_);
  more.levels = {0, 9};
  const Study second = conduct(more, options_);
  EXPECT_EQ(second.runs[0].folder, first.runs[0].folder);
  EXPECT_EQ(std::filesystem::last_write_time(folder / "model"), trained);
  EXPECT_EQ(content(folder / "evaluate.json"), evaluation);
  EXPECT_EQ(second.runs[0].results.stress->curves[0].levels.size(), 2u);
  // Level 0 is the same noise as before.
  EXPECT_EQ(second.runs[0].results.stress->curves[0].levels[0].seeds[0].log_loss,
            first.runs[0].results.stress->curves[0].levels[0].seeds[0].log_loss);
}

TEST_F(StudyTest, RunsOfAnotherPlanAreNotCounted) {
  conduct(plan(small_), options_);
  lines_.clear();
  const Study other = conduct(plan("[[experiment]]\nmethod = \"B\"\npreset = \"small.toml\"\n"
                                   "set = [\"train.seed=5\"]\n"),
                              options_);
  ASSERT_EQ(other.runs.size(), 1u);
  EXPECT_EQ(other.runs[0].method, "B");
  EXPECT_FALSE(said("finished already"));
  EXPECT_TRUE(said("[1/1] B on synthetic: done"));
}

TEST_F(StudyTest, ADamagedResultIsDoneAgainWithTheSameNumbers) {
  const Plan planned = plan(small_);
  const Study first = conduct(planned, options_);
  const auto file = options_.out / "runs" / first.runs[0].folder / "stress.json";
  const std::string whole = content(file);
  for (const std::string& damaged : {whole.substr(0, whole.size() - 20), std::string("null")}) {
    std::ofstream(file) << damaged;
    lines_.clear();
    const Study again = conduct(planned, options_);
    EXPECT_FALSE(said("finished already"));
    EXPECT_EQ(again.failures(), 0u);
    EXPECT_EQ(content(file), whole);
  }
}

TEST_F(StudyTest, AFileThatCannotBeReadStopsEverythingWithItsName) {
  folder_.write("ward.csv", "id,time,x\na,0,1\na,noon,2\n");
  try {
    conduct(plan(small_, ward_), options_);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ward.csv:3"), std::string::npos) << error.what();
  }
}

TEST_F(StudyTest, ProgressNeverGoesBackAndEndsAtOne) {
  double last = 0;
  options_.progress = [&](double share, const std::string&) {
    EXPECT_GE(share, last - 1e-9);  // sums of the same shares, in another order
    last = share;
  };
  conduct(plan(small_ + "[[experiment]]\nmethod = \"B\"\npreset = \"small.toml\"\n"
                        "set = [\"train.seed=5\"]\n"),
          options_);
  EXPECT_NEAR(last, 1.0, 1e-6);
}

TEST_F(StudyTest, StoppedItKeepsWhatIsFinished) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  options_.progress = [&](double, const std::string& note) {
    if (note.find("evaluate") != std::string::npos) stop = true;
  };
  const Study study = conduct(plan(small_), options_);
  EXPECT_TRUE(study.interrupted);
  EXPECT_TRUE(study.runs[0].results.training);
  EXPECT_TRUE(study.runs[0].results.evaluation);
  EXPECT_FALSE(study.runs[0].results.stress);
  EXPECT_FALSE(study.runs[0].failure);
}

}  // namespace
}  // namespace edict::study
