// One run on a few series, through the library: its files, what is reused, what is done again.
#include "render/json/scores_json.h"
#include "research/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/json/json.h"
#include "data/fingerprint.h"
#include "research/import/synthetic.h"
#include "research/small_run.h"
#include "temporary_folder.h"

namespace edict::study {
namespace {

namespace fs = std::filesystem;

// Every stage file of a run that has all of them.
constexpr const char* kStages[] = {"train", "evaluate", "classify", "stress", "browse"};

class RunTest : public testing::Test {
 protected:
  // Named in full: gtest has a Run of its own.
  study::Run run() const { return run_on(data_); }
  study::Run run_on(const Dataset& data) const {
    return study::Run(spec_, data, fingerprint(data), folder_.path());
  }

  std::string text(const study::Run& one, const std::string& stage) const {
    return content(one.folder() / (stage + ".json"));
  }
  static void replace(const study::Run& one, const std::string& stage, const std::string& text) {
    std::ofstream(one.folder() / (stage + ".json")) << text;
  }

  const Dataset data_ = generate_synthetic(60, 0);
  RunSpec spec_ = small_run();
  ThreadPool pool_{1};
  TemporaryFolder folder_;
};

TEST_F(RunTest, FilesOfAFinishedRunAreAllThere) {
  const study::Run one = run();
  EXPECT_TRUE(one.name().starts_with("synthetic-edict-small-"));
  EXPECT_GT(one.pending(), 0);
  double last = -1;
  one.conduct(pool_, {nullptr, [&](double share, const std::string&) {
                        EXPECT_GE(share,
                                  last - 1e-12);  // sums of the same shares, in another order
                        EXPECT_LE(share, 1 + 1e-9);
                        last = share;
                      }});
  EXPECT_NEAR(last, 1.0, 1e-9);
  EXPECT_EQ(one.pending(), 0);
  for (const char* name :
       {"config.toml", "command.txt", "model", "model.metrics.csv", "classifier", "log.txt",
        "train.json", "evaluate.json", "classify.json", "stress.json", "browse.json"})
    EXPECT_TRUE(fs::exists(one.folder() / name)) << name;
  EXPECT_FALSE(fs::exists(one.folder() / "model.checkpoint"));

  const RunResults results = one.results();
  ASSERT_TRUE(results.training);
  EXPECT_EQ(results.training->epochs, 2);
  EXPECT_EQ(results.training->validation.size(), 2u);
  EXPECT_GT(results.training->parameters, 0);
  ASSERT_TRUE(results.training->best_epoch);
  ASSERT_TRUE(results.evaluation && results.evaluation->interpolation);
  ASSERT_TRUE(results.classifiers);
  ASSERT_EQ(results.classifiers->seeds.size(), 2u);
  EXPECT_EQ(results.classifiers->seeds[1].seed, 1);
  ASSERT_TRUE(results.stress);
  ASSERT_NE(results.stress->find(Guard::Kind::edgr), nullptr);
  EXPECT_EQ(results.stress->find(Guard::Kind::edgr)->levels.size(), 2u);
  EXPECT_TRUE(results.browse);
}

// What is read back is what the library computes from the model that the run kept.
TEST_F(RunTest, ResultsAreThoseOfTheModelInTheFolder) {
  const study::Run one = run();
  one.conduct(pool_, {});
  const Model model = load_model(one.folder() / "model");
  const Evaluation evaluation = evaluate(model, data_, model.split(data_).test, pool_);
  EXPECT_EQ(to_json(*one.results().evaluation), to_json(evaluation));
}

TEST_F(RunTest, TheNameFollowsWhatTrainingDependsOn) {
  const std::string name = run().name();
  EXPECT_EQ(run().name(), name);
  spec_.levels = {0};
  spec_.config.classify.epochs = 3;
  EXPECT_EQ(run().name(), name);
  spec_.config.train.seed = 1;
  EXPECT_NE(run().name(), name);
}

TEST_F(RunTest, OtherDataAreAnotherRun) {
  const std::string name = run().name();
  Dataset other = data_;
  other.value[7] += 1e-9;
  EXPECT_NE(run_on(other).name(), name);
  other = data_;
  other.ids[3] += "x";
  EXPECT_NE(run_on(other).name(), name);
  other = data_;
  other.groups = {"ward"};
  other.group_of[3] = 0;  // another grouping is another split
  EXPECT_NE(run_on(other).name(), name);
  EXPECT_NE(study::Run(spec_, data_, fingerprint(data_) + 1, folder_.path()).name(), name);
}

TEST_F(RunTest, OtherSourcesAreAnotherRun) {
  EXPECT_EQ(spec_.sources, source_hash());
  const study::Run before = run();
  before.conduct(pool_, {});
  spec_.sources = "0000";
  EXPECT_NE(run().name(), before.name());
  EXPECT_GT(run().pending(), 0);
  EXPECT_FALSE(run().results().training);
}

TEST_F(RunTest, AForeignOrHalfWrittenResultIsDoneAgain) {
  const study::Run one = run();
  one.conduct(pool_, {});
  std::map<std::string, std::string> before;
  for (const char* stage : kStages) before[stage] = text(one, stage);
  for (const char* stage : kStages)
    for (const std::string& damaged :
         {std::string(), std::string("half a fi"),
          before[stage].substr(0, before[stage].size() / 2), std::string("[]"),
          std::string("{\"inputs\": \"something else\"}")}) {
      replace(one, stage, damaged);
      EXPECT_GT(one.pending(), 0) << stage << ": " << damaged.substr(0, 40);
      replace(one, stage, before[stage]);
      EXPECT_EQ(one.pending(), 0);
    }
  replace(one, "stress", "{}");
  replace(one, "evaluate", "");
  EXPECT_FALSE(one.results().stress);
  EXPECT_FALSE(one.results().evaluation);
  one.conduct(pool_, {});
  for (const char* stage : kStages) EXPECT_EQ(text(one, stage), before[stage]) << stage;
}

// With the right inputs and one field gone; stage_results_test and eval's result_json_test go
// deeper.
TEST_F(RunTest, AResultThatLacksAFieldIsDoneAgain) {
  const study::Run one = run();
  one.conduct(pool_, {});
  for (const char* stage : kStages) {
    const std::string whole = text(one, stage);
    const auto json = nlohmann::json::parse(whole);
    for (const auto& [key, value] : json.items()) {
      // A sweep's file repeats its first guard on top, for those who read it by hand.
      if (std::string_view(stage) == "stress" && (key == "clean" || key == "levels")) continue;
      auto damaged = json;
      damaged.erase(key);
      replace(one, stage, damaged.dump());
      EXPECT_GT(one.pending(), 0) << stage << " without " << key;
    }
    replace(one, stage, whole);
  }
  EXPECT_EQ(one.pending(), 0);
}

TEST_F(RunTest, ABrowseFileWhoseListsDifferInLengthIsDoneAgain) {
  const study::Run one = run();
  one.conduct(pool_, {});
  const auto whole = nlohmann::json::parse(text(one, "browse"));
  const nlohmann::json::json_pointer first("/series/0");
  for (const char* list : {"/times", "/forecast/features/0/mean", "/forecast/features",
                           "/noisy/features/0/epistemic", "/noisy/probability/1", "/features"}) {
    auto shorter = whole;
    shorter.at(first / nlohmann::json::json_pointer(list)).erase(0);
    replace(one, "browse", shorter.dump());
    EXPECT_FALSE(one.results().browse) << list;
  }
}

TEST_F(RunTest, OnlyTheStagesThatASettingTouchesArePending) {
  run().conduct(pool_, {});
  spec_.levels = {0, 3};
  EXPECT_TRUE(run().results().classifiers);
  EXPECT_FALSE(run().results().stress);
  EXPECT_FALSE(run().results().browse);  // its view under noise is of another level
  spec_ = small_run();
  spec_.seeds = {0};
  EXPECT_TRUE(run().results().evaluation);
  EXPECT_FALSE(run().results().classifiers);
}

TEST_F(RunTest, StoppedAtTheStartItDoesNothing) {
  const std::atomic<bool> stop = true;
  EXPECT_THROW(run().conduct(pool_, {&stop, {}}), Interrupted);
  EXPECT_FALSE(run().results().training);
}

TEST_F(RunTest, WithoutLabelsThereIsNoSweep) {
  Dataset unlabelled = data_;
  unlabelled.classes.clear();
  for (auto& label : unlabelled.labels.edit()) label = Dataset::kNone;
  const study::Run one = run_on(unlabelled);
  one.conduct(pool_, {});
  EXPECT_EQ(one.pending(), 0);
  const RunResults results = one.results();
  EXPECT_FALSE(results.stress);
  EXPECT_FALSE(results.classifiers);
  EXPECT_TRUE(results.evaluation);
  ASSERT_TRUE(results.browse);
  ASSERT_FALSE(results.browse->series.empty());
  EXPECT_FALSE(results.browse->series[0].label);
  EXPECT_TRUE(results.browse->series[0].forecast.probability.empty());
}

TEST_F(RunTest, AModelWithoutADistributionIsSweptAndNotEvaluated) {
  assign(spec_.config, "model.kind=gru-d");
  spec_.guards = {{}};
  const study::Run one = run();
  one.conduct(pool_, {});
  EXPECT_EQ(one.pending(), 0);
  const RunResults results = one.results();
  EXPECT_TRUE(results.training);
  EXPECT_TRUE(results.stress);
  EXPECT_FALSE(results.evaluation);
  EXPECT_FALSE(results.browse);
}

TEST_F(RunTest, TheCommandsNameWhatTheRunUsed) {
  spec_.data.rate = 0.25;
  spec_.data.rate_unit = 1.5;
  spec_.data.series = 60;
  const study::Run one = run();
  one.conduct(pool_, {});
  const std::string text = content(one.folder() / "command.txt");
  for (const char* line :
       {"edict generate synthetic --series 60 --seed 0 --out ../../data.csv\n",
        "edict train ../../data.csv --config config.toml --out model --force\n",
        "edict evaluate model ../../data.csv --json evaluate.json\n",
        "edict classify model ../../data.csv --config config.toml --seeds 0,1 --out classifier\n",
        "edict stress classifier ../../data.csv --guard none,edgr --levels 0,6 --seeds 0,1 --rate "
        "0.25 --unit 1.5 --json stress.json\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "is not in\n" << text;
}

TEST_F(RunTest, DataFromAFileAreNotGenerated) {
  spec_.data.file = "ward.csv";
  assign(spec_.config, "model.kind=gru-d");
  spec_.guards = {{}};
  const study::Run one = run();
  one.conduct(pool_, {});
  const std::string text = content(one.folder() / "command.txt");
  EXPECT_EQ(text.find("edict generate"), std::string::npos);
  EXPECT_EQ(text.find("edict evaluate"), std::string::npos);  // it predicts no distribution
  EXPECT_EQ(text.find("edict classify"), std::string::npos);
  EXPECT_NE(text.find("edict stress model "), std::string::npos);
}

TEST_F(RunTest, TheSettingsInTheFolderAreThoseOfTheRun) {
  const study::Run one = run();
  one.conduct(pool_, {});
  Config read;
  read_toml(one.folder() / "config.toml", read);
  EXPECT_EQ(to_toml(read), to_toml(spec_.config));
}

// A stage that fails says so in the log, keeps what was finished, and is tried again.
TEST_F(RunTest, AFailedStageIsLoggedAndTriedAgain) {
  const study::Run one = run();
  one.conduct(pool_, {});
  const std::string model = content(one.folder() / "model");
  fs::remove(one.folder() / "evaluate.json");
  std::ofstream(one.folder() / "model") << "no model";
  EXPECT_THROW(one.conduct(pool_, {}), Error);
  EXPECT_NE(content(one.folder() / "log.txt").find("evaluate failed: "), std::string::npos);
  EXPECT_TRUE(one.results().stress);
  EXPECT_FALSE(one.results().evaluation);
  std::ofstream(one.folder() / "model", std::ios::binary) << model;
  one.conduct(pool_, {});
  EXPECT_TRUE(one.results().evaluation);
}

TEST_F(RunTest, BrowsedSeriesHoldWhatWasObserved) {
  const study::Run one = run();
  one.conduct(pool_, {});
  const Browse browse = one.results().browse.value();
  for (const BrowsedSeries& series : browse.series) {
    ASSERT_EQ(series.times.size(), 121u);
    std::size_t observations = 0;
    for (const BrowsedFeature& feature : series.features) {
      observations += feature.seen.size() + feature.later.size();
      for (const auto& [time, value] : feature.seen) EXPECT_LT(time, browse.t_cut);
      for (const auto& [time, value] : feature.later) EXPECT_GE(time, browse.t_cut);
    }
    const auto found = std::find(data_.ids.begin(), data_.ids.end(), series.id);
    const auto i = static_cast<std::size_t>(found - data_.ids.begin());
    EXPECT_EQ(observations, data_.first_observation[data_.first_event[i + 1]] -
                                data_.first_observation[data_.first_event[i]]);
    for (const BrowsedView* view : {&series.forecast, &series.noisy}) {
      ASSERT_EQ(view->probability.size(), 2u);
      // Each is rounded to five digits.
      for (std::size_t t = 0; t < series.times.size(); ++t)
        EXPECT_NEAR(view->probability[0][t] + view->probability[1][t], 1.0, 1e-4);
      for (const BrowsedBand& band : view->features)
        for (const double half : band.half) EXPECT_GT(half, 0);
    }
    EXPECT_TRUE(series.forecast.features[0].clips.empty());
  }
}

TEST(Spread, EvenlyAndNeverMoreThanThereAre) {
  const std::vector<std::size_t> series{3, 5, 7, 9, 11, 13};
  EXPECT_EQ(spread(series, 3), (std::vector<std::size_t>{3, 7, 11}));
  EXPECT_EQ(spread(series, 10), series);
}

}  // namespace
}  // namespace edict::study
