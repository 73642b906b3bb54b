// One run on a few series, through the library: its files, what is reused, what is done again.
#include "edict/study/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "edict/data/fingerprint.h"
#include "edict/datasets/synthetic.h"
#include "edict/study/browse.h"
#include "temporary_folder.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

// gtest has a Run of its own, hence edict::Run below.
class RunTest : public testing::Test {
 protected:
  void SetUp() override {
    spec_.data.name = spec_.data.title = "synthetic";
    spec_.data_path = "../../data.csv";
    spec_.method = "EDICT (small)";
    spec_.config.data.t_cut = 9.42;
    spec_.config.model.hidden = 6;
    spec_.config.model.head_hidden = 4;
    spec_.config.model.encoder_width = 3;
    spec_.config.model.step = 0.5;
    spec_.config.train.epochs = 2;
    spec_.config.train.batch = 8;
    spec_.guards = {{}, {Guard::Kind::edgr}};
    spec_.levels = {0, 6};
    spec_.seeds = {0, 1};
  }

  edict::Run run() const { return edict::Run(spec_, data_, fingerprint(data_), folder_.path()); }

  const Dataset data_ = generate_synthetic(60, 0);
  RunSpec spec_;
  ThreadPool pool_{1};
  TemporaryFolder folder_;
};

TEST_F(RunTest, FilesOfAFinishedRunAreAllThere) {
  const edict::Run one = run();
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
       {"config.toml", "command.txt", "model", "model.metrics.csv", "train.json", "evaluate.json",
        "classifier", "classify.json", "stress.json", "browse.json", "log.txt"})
    EXPECT_TRUE(fs::exists(one.folder() / name)) << name;
  EXPECT_FALSE(fs::exists(one.folder() / "model.checkpoint"));
  EXPECT_EQ(one.result("train")["epochs"], 2);
  EXPECT_EQ(one.result("stress")["guards"]["edgr"]["levels"].size(), 2u);
  EXPECT_TRUE(one.result("nothing").is_null());
}

TEST_F(RunTest, TheNameFollowsWhatTrainingDependsOn) {
  const std::string name = run().name();
  EXPECT_EQ(run().name(), name);
  spec_.levels = {0};
  spec_.config.classify.epochs = 3;
  EXPECT_EQ(run().name(), name);
  spec_.config.train.seed = 1;
  EXPECT_NE(run().name(), name);
  spec_.config.train.seed = 0;
  EXPECT_NE(edict::Run(spec_, data_, fingerprint(data_) + 1, folder_.path()).name(), name);
}

TEST_F(RunTest, ADamagedOrForeignResultIsDoneAgain) {
  const edict::Run one = run();
  one.conduct(pool_, {});
  const nlohmann::json before = one.result("stress");
  std::ofstream(one.folder() / "stress.json") << "{\"inputs\": \"something else\"}";
  EXPECT_TRUE(one.result("stress").is_null());
  EXPECT_GT(one.pending(), 0);
  std::ofstream(one.folder() / "evaluate.json") << "half a fi";
  EXPECT_TRUE(one.result("evaluate").is_null());
  one.conduct(pool_, {});
  EXPECT_EQ(one.result("stress"), before);
  EXPECT_FALSE(one.result("evaluate").is_null());
}

TEST_F(RunTest, StoppedAtTheStartItDoesNothing) {
  const std::atomic<bool> stop = true;
  EXPECT_THROW(run().conduct(pool_, {&stop, {}}), Interrupted);
  EXPECT_TRUE(run().result("train").is_null());
}

TEST_F(RunTest, WithoutLabelsThereIsNoSweep) {
  Dataset unlabelled = data_;
  unlabelled.classes.clear();
  for (auto& label : unlabelled.labels) label = Dataset::kNone;
  const edict::Run one(spec_, unlabelled, 1, folder_.path());
  one.conduct(pool_, {});
  EXPECT_TRUE(one.result("stress").is_null());
  EXPECT_FALSE(one.result("evaluate").is_null());
  const nlohmann::json browse = one.result("browse");
  ASSERT_FALSE(browse["series"].empty());
  EXPECT_TRUE(browse["series"][0]["label"].is_null());
  EXPECT_FALSE(browse["series"][0]["forecast"].contains("probability"));
}

TEST_F(RunTest, BrowsedSeriesHoldWhatWasObserved) {
  const edict::Run one = run();
  one.conduct(pool_, {});
  const nlohmann::json browse = one.result("browse");
  for (const auto& series : browse["series"]) {
    const std::size_t points = series["times"].size();
    ASSERT_EQ(points, 121u);
    std::size_t observations = 0;
    for (const auto& feature : series["features"])
      observations += feature["seen"].size() + feature["later"].size();
    const auto found = std::find(data_.ids.begin(), data_.ids.end(), series["id"]);
    const auto i = static_cast<std::size_t>(found - data_.ids.begin());
    EXPECT_EQ(observations, data_.first_observation[data_.first_event[i + 1]] -
                                data_.first_observation[data_.first_event[i]]);
    for (const char* view : {"forecast", "noisy"}) {
      for (std::size_t t = 0; t < points; ++t) {
        const double p = series[view]["probability"][0][t], q = series[view]["probability"][1][t];
        EXPECT_NEAR(p + q, 1.0, 1e-4);
      }
      for (const auto& feature : series[view]["features"])
        for (const auto& half : feature["half"]) EXPECT_GT(half.get<double>(), 0);
    }
    EXPECT_TRUE(series["forecast"]["features"][0]["clips"].empty());
  }
}

TEST(Spread, EvenlyAndNeverMoreThanThereAre) {
  const std::vector<std::size_t> series{3, 5, 7, 9, 11, 13};
  EXPECT_EQ(spread(series, 3), (std::vector<std::size_t>{3, 7, 11}));
  EXPECT_EQ(spread(series, 10), series);
}

}  // namespace
}  // namespace edict
