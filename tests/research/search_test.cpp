#include "research/search/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/error.h"
#include "judge/evaluate.h"
#include "research/import/synthetic.h"
#include "temporary_folder.h"

namespace edict::study {
namespace {

namespace fs = std::filesystem;

class SearchTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.out = folder_ / "search";
    options_.ranges = {parse_range("train.learning_rate=1e-4:1e-1:log")};
    options_.budget.trials = 27;
    base_.train.epochs = 18;
  }

  // Best at a rate of 0.003, and better the longer it runs.
  static bool bowl(const Config& config, const fs::path&, Outcome& outcome) {
    const double off = std::log10(config.train.learning_rate / 3e-3);
    outcome.nll = off * off + 1.0 / static_cast<double>(config.train.epochs);
    outcome.mse = std::abs(off);
    return true;
  }

  std::string read(const std::string& name) const { return content(options_.out / name); }
  // trials.csv without its column of seconds.
  std::string table() const {
    std::istringstream in(read("trials.csv"));
    std::string all;
    for (std::string line; std::getline(in, line);) {
      std::size_t comma = 0;
      for (int i = 0; i < 3; ++i) comma = line.find(',', comma) + 1;
      all += line.substr(0, comma) + line.substr(line.find(',', comma)) + "\n";
    }
    return all;
  }

  TemporaryFolder folder_;
  SearchOptions options_;
  Config base_;
};

TEST_F(SearchTest, FindsTheBottomOfABowl) {
  const SearchResult result = search(base_, 1, bowl, options_);
  EXPECT_FALSE(result.interrupted);
  const Outcome* best = best_outcome(result.outcomes);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->rung, 2u);
  EXPECT_EQ(best->epochs, 18);
  // No trial on the lowest rung is nearer to the bottom.
  for (const Outcome& o : result.outcomes) EXPECT_GE(o.mse, best->mse);
  EXPECT_LT(best->mse, 0.2);  // 27 draws over three decades: one within a fifth of a decade
  Config written;
  read_toml(options_.out / "best.toml", written);
  EXPECT_NEAR(std::log10(written.train.learning_rate / 3e-3), best->mse, 2 * best->mse);
  EXPECT_EQ(written.train.epochs, 18);
}

TEST_F(SearchTest, AnInterruptedSearchGoesOnAsIfItHadNotBeen) {
  search(base_, 1, bowl, options_);
  const std::string whole = table(), best = read("best.toml");
  options_.out = folder_ / "again";
  int runs = 0;
  const Trial faint = [&](const Config& c, const fs::path& p, Outcome& o) {
    return ++runs % 5 != 0 && bowl(c, p, o);
  };
  int calls = 0;
  while (search(base_, 1, faint, options_).interrupted) ASSERT_LT(++calls, 50);
  EXPECT_GT(calls, 3);
  EXPECT_EQ(table(), whole);
  EXPECT_EQ(read("best.toml"), best);
}

TEST_F(SearchTest, ALargerBudgetAddsTrialsToTheSameOnes) {
  options_.budget.trials = 3;
  search(base_, 1, bowl, options_);
  const std::string before = table();
  options_.budget.trials = 5;
  search(base_, 1, bowl, options_);
  std::istringstream in(before);
  for (std::string line; std::getline(in, line);) EXPECT_NE(table().find(line), std::string::npos);
  EXPECT_NE(table().find("\n4,0,"), std::string::npos);
}

TEST_F(SearchTest, OtherDataOrRangesAreRefused) {
  search(base_, 1, bowl, options_);
  EXPECT_THROW(search(base_, 2, bowl, options_), Error);
  base_.model.hidden = 51;
  EXPECT_THROW(search(base_, 1, bowl, options_), Error);
  base_.model.hidden = 50;
  options_.ranges.push_back(parse_range("model.hidden=32,64"));
  EXPECT_THROW(search(base_, 1, bowl, options_), Error);
}

TEST_F(SearchTest, AFolderOfSomethingElseIsLeftAlone) {
  folder_.write("search/letter.txt", "dear");
  EXPECT_THROW(search(base_, 1, bowl, options_), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(options_.out), fs::directory_iterator{}), 1);
}

TEST_F(SearchTest, FailedTrialsAreRecordedAndPassedOver) {
  const Trial steep = [](const Config& c, const fs::path& p, Outcome& o) {
    if (c.train.learning_rate > 3e-3) throw Error("the gradient, alas, is not finite");
    return bowl(c, p, o);
  };
  const SearchResult result = search(base_, 1, steep, options_);
  const auto failures = std::count_if(result.outcomes.begin(), result.outcomes.end(),
                                      [](const Outcome& o) { return !o.failure.empty(); });
  EXPECT_GT(failures, 5);  // half of the range
  EXPECT_TRUE(best_outcome(result.outcomes)->failure.empty());
  EXPECT_NE(read("trials.csv").find("\"the gradient, alas, is not finite\""), std::string::npos);
}

TEST_F(SearchTest, NothingButFailuresIsAnError) {
  options_.budget = {};
  options_.budget.seconds = 1e6;  // would never end
  const Trial hopeless = [](const Config&, const fs::path&, Outcome&) -> bool {
    throw Error("no labels");
  };
  try {
    search(base_, 1, hopeless, options_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("no labels"), std::string::npos) << e.what();
  }
}

TEST_F(SearchTest, ABudgetInTimeCountsEarlierRuns) {
  options_.budget = {};
  options_.budget.seconds = 1e-7;
  const SearchResult first = search(base_, 1, bowl, options_);
  EXPECT_TRUE(first.out_of_time);
  EXPECT_EQ(first.outcomes.size(), 1u);
  EXPECT_EQ(search(base_, 1, bowl, options_).outcomes.size(), 1u);
}

TEST(SearchBudgetText, TrialsOrTime) {
  EXPECT_EQ(parse_budget("20").trials, 20u);
  EXPECT_EQ(parse_budget("90s").seconds, 90);
  EXPECT_EQ(parse_budget("30m").seconds, 1800);
  EXPECT_EQ(parse_budget("0.5h").seconds, 1800);
  for (const char* bad : {"", "0", "-3", "2.5", "10 minutes", "m", "nan"})
    EXPECT_THROW(parse_budget(bad), Error) << bad;
}

// The real thing, small: a hopeless learning rate loses against a sensible one.
TEST_F(SearchTest, TrainsAndJudgesOnTheValidationSplit) {
  const Dataset data = generate_synthetic(60, 0);
  ThreadPool pool(1);
  base_.data.t_cut = 9.42;
  base_.data.standardise = false;
  base_.model.hidden = 6;
  base_.model.head_hidden = 4;
  base_.model.encoder_width = 3;
  base_.model.step = 0.5;
  base_.train.epochs = 4;
  base_.train.batch = 8;
  options_.ranges = {parse_range("train.learning_rate=1e-8,2e-2")};
  options_.budget.trials = 6;
  options_.rungs = 1;
  const SearchResult result = search(base_, 1, training_trial(data, pool, {}), options_);
  Config best;
  read_toml(options_.out / "best.toml", best);
  EXPECT_EQ(best.train.learning_rate, 2e-2);
  EXPECT_TRUE(fs::exists(options_.out / "trial-0000/rung-0.model"));
  EXPECT_FALSE(fs::exists(checkpoint_path(options_.out / "trial-0000/rung-0.model")));
  for (const Outcome& o : result.outcomes) EXPECT_EQ(o.failure, "");
}

// The kept model is calibrated by all of the validation split; a trial is judged without that.
TEST_F(SearchTest, NoSeriesJudgesACalibrationThatItFitted) {
  const Dataset data = generate_synthetic(400, 0);
  ThreadPool pool(1);
  base_.data.t_cut = 9.42;
  base_.model.hidden = 6;
  base_.model.step = 0.5;
  base_.train.epochs = 3;
  base_.train.batch = 8;
  options_.ranges = {parse_range("train.learning_rate=1e-2,2e-2")};
  options_.budget.trials = 1;
  options_.rungs = 1;
  const auto both = [&](const char* out, bool calibrate) {
    base_.train.calibrate = calibrate;
    options_.out = folder_ / out;
    const Outcome outcome =
        search(base_, 1, training_trial(data, pool, {}), options_).outcomes.at(0);
    const Model kept = load_model(options_.out / "trial-0000/rung-0.model");
    EXPECT_EQ(kept.calibration.empty(), !calibrate);
    EXPECT_EQ(kept.config.train.calibrate, calibrate);
    const Split parts = kept.split(data);
    return std::pair(outcome, *evaluate(kept, data, parts.validation, pool).interpolation);
  };
  const auto [plain, of_plain] = both("plain", false);
  EXPECT_EQ(plain.nll, of_plain.nll.mean);
  EXPECT_EQ(plain.ece, of_plain.ece);
  const auto [calibrated, fitted] = both("calibrated", true);
  EXPECT_GT(calibrated.nll, fitted.nll.mean);
  EXPECT_LT(calibrated.nll, plain.nll);  // it is judged with a calibration all the same
  EXPECT_EQ(calibrated.mse, plain.mse);
}

}  // namespace
}  // namespace edict::study
