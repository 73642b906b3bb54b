#include "research/search/ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"

namespace edict::study {
namespace {

TEST(Ranges, AreReadInTheirThreeForms) {
  const SearchRange rate = parse_range("train.learning_rate=1e-4:1e-2:log");
  EXPECT_EQ(rate.key, "train.learning_rate");
  EXPECT_EQ(rate.low, 1e-4);
  EXPECT_EQ(rate.high, 1e-2);
  EXPECT_TRUE(rate.logarithmic);
  const SearchRange hidden = parse_range("model.hidden=32:128");
  EXPECT_FALSE(hidden.logarithmic);
  const SearchRange solver = parse_range("model.solver=euler,rk4");
  EXPECT_EQ(solver.choices, (std::vector<std::string>{"euler", "rk4"}));
  EXPECT_EQ(usual_ranges().size(), 6u);
}

TEST(Ranges, BadOnesAreRefusedWithTheirText) {
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"train.learning_rate", "expected key=low:high"},
           {"train.learning_rate=", "expected key=low:high"},
           {"train.learning_rate=1e-4:x", "expected key=low:high"},
           {"train.learning_rate=1:2:3:4", "expected key=low:high"},
           {"train.learning_rate=1e-4:1e-2:exp", "expected key=low:high"},
           {"train.learning_rate=1e-2:1e-4", "not below"},
           {"loss.evidence=0:1:log", "begins above 0"},
           {"train.learning_rat=1e-4:1e-2", "did you mean 'train.learning_rate'"},
           {"model.hidden=0:64", "not allowed"},
           {"model.hidden=32,many", "not allowed"},
           {"model.solver=euler,heun", "not allowed"}}) {
    try {
      parse_range(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.message(command_line_option).find("--range " + text + ": "), 0u) << e.what();
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  }
}

TEST(Ranges, DrawsDependOnSeedAndTrialAloneAndKeepTheRest) {
  Config base;
  base.model.head_hidden = 17;
  const std::vector<SearchRange> ranges{parse_range("train.learning_rate=1e-4:1e-2:log"),
                                        parse_range("model.hidden=32:128")};
  const Config a = draw_settings(base, ranges, 3, 5), b = draw_settings(base, ranges, 3, 5);
  EXPECT_EQ(a.train.learning_rate, b.train.learning_rate);
  EXPECT_EQ(a.model.hidden, b.model.hidden);
  EXPECT_EQ(a.model.head_hidden, 17);
  EXPECT_NE(a.train.learning_rate, draw_settings(base, ranges, 3, 6).train.learning_rate);
  EXPECT_NE(a.train.learning_rate, draw_settings(base, ranges, 4, 5).train.learning_rate);
}

// 2,000 draws: the share below the middle is 1/2 ± 0.045 (four standard deviations of a binomial).
TEST(Ranges, DrawsFillTheRangeEvenlyInTheirScale) {
  const Config base;
  const std::vector<SearchRange> ranges{
      parse_range("train.learning_rate=1e-4:1e-2:log"), parse_range("train.warmup=0.2:0.6"),
      parse_range("model.hidden=3:5"), parse_range("train.batch=32,64")};
  int below_rate = 0, below_warmup = 0, small_batch = 0;
  std::set<std::int64_t> hidden;
  for (std::size_t trial = 0; trial < 2000; ++trial) {
    const Config c = draw_settings(base, ranges, 0, trial);
    EXPECT_GE(c.train.learning_rate, 1e-4);
    EXPECT_LE(c.train.learning_rate, 1e-2);
    EXPECT_GE(c.train.warmup, 0.2);
    EXPECT_LE(c.train.warmup, 0.6);
    below_rate += c.train.learning_rate < 1e-3;
    below_warmup += c.train.warmup < 0.4;
    small_batch += c.train.batch == 32;
    hidden.insert(c.model.hidden);
  }
  for (int count : {below_rate, below_warmup, small_batch}) EXPECT_NEAR(count / 2000.0, 0.5, 0.045);
  EXPECT_EQ(hidden, (std::set<std::int64_t>{3, 4, 5}));
}

TEST(Ranges, SettingsAreWrittenAsTheyAreGiven) {
  Config config;
  config.model.hidden = 64;
  config.train.learning_rate = 0.00123;
  EXPECT_EQ(setting_text(config, "model.hidden"), "64");
  EXPECT_EQ(setting_text(config, "train.learning_rate"), "0.00123");
  EXPECT_EQ(setting_text(config, "model.solver"), "euler");
}

}  // namespace
}  // namespace edict::study
