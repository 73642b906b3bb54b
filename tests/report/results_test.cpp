#include "edict/report/results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/small_study.h"

namespace edict {
namespace {

const json& row_of(const json& rows, const std::string& method, const json& level) {
  for (const json& row : rows)
    if (row["method"] == method && row["level"] == level) return row;
  throw std::runtime_error("no such row");
}

TEST(Verdict, BetterEqualWorse) {
  // 1.2 and 1.0 differ by more than the larger deviation 0.1.
  EXPECT_STREQ(verdict({1.2, 0.05}, {1.0, 0.1}, false, 1), "better");
  EXPECT_STREQ(verdict({1.2, 0.05}, {1.0, 0.1}, true, 1), "worse");
  EXPECT_STREQ(verdict({1.2, 0.2}, {1.0, 0.1}, true, 1), "equal");
  EXPECT_STREQ(verdict({1.2, 0.1}, {1.0, 0.2}, true, 1), "equal");
}

// 99.96 is published as 100.0.
TEST(Verdict, RoundingOfThePublishedHidesNoDifference) {
  EXPECT_STREQ(verdict({99.96, 0}, {100.0, 0}, false, 1), "equal");
  EXPECT_STREQ(verdict({99.90, 0}, {100.0, 0}, false, 1), "worse");
}

TEST(Results, CalibrationBesideThePublished) {
  const json results = results_of(small_study());
  ASSERT_EQ(results["calibration"].size(), 4u);  // of EDICT; nothing is published of the others
  const json& extrapolation = results["calibration"][2];
  EXPECT_EQ(extrapolation["task"], "extrapolation");
  EXPECT_EQ(extrapolation["metric"], "MSE");
  EXPECT_EQ(extrapolation["ours"]["mean"], 0.004);
  EXPECT_EQ(extrapolation["published"]["mean"], 0.009);
  EXPECT_EQ(extrapolation["verdict"], "equal");  // published ± 0.01
  const json& ece = results["calibration"][1];   // 0.15 against 0.083 ± 0.049
  EXPECT_EQ(ece["ours"]["mean"], 0.15);
  EXPECT_TRUE(ece["ours"]["std"].is_null());
  EXPECT_NEAR(ece["per_series"]["mean"], 0.25, 1e-12);
  EXPECT_EQ(ece["per_series"]["floor"], 0.09);
  EXPECT_EQ(value_text(ece["ours"], 3), "0.150");
  EXPECT_EQ(ece["verdict"], "worse");
}

TEST(Results, ScoresAreMeanAndDeviationOverSeeds) {
  const json results = results_of(small_study());
  const json& own = row_of(results["accuracy"], "EDICT", 9);
  EXPECT_NEAR(own["ours"]["mean"], 61.0, 1e-12);
  EXPECT_NEAR(own["ours"]["std"], 1.0, 1e-12);
  EXPECT_EQ(own["verdict"], "better");  // published 52.1 ± 1.4
  const json& guarded = row_of(results["accuracy"], "EDICT w/ EDGR", 9);
  EXPECT_NEAR(guarded["ours"]["mean"], 70.0, 1e-12);
  EXPECT_EQ(guarded["verdict"], "worse");  // published 77.1 ± 1.0
  EXPECT_EQ(row_of(results["auroc"], "EDICT", 9)["published"]["mean"], 53.0);
}

TEST(Results, SeveralTrainingsAreOneNumber) {
  const json results = results_of(small_study());
  const json& row = row_of(results["accuracy"], "GRU-D", 9);
  EXPECT_NEAR(row["ours"]["mean"], 52.0, 1e-12);
  EXPECT_NEAR(row["ours"]["std"], 2.0, 1e-12);
  EXPECT_EQ(row["runs"], (json{"synthetic-gru-d-00000001", "synthetic-gru-d-00000002"}));
  EXPECT_EQ(row["verdict"], "equal");  // published 53.0
}

TEST(Results, WithoutNoiseThereIsNothingPublished) {
  const json results = results_of(small_study());
  const json& row = row_of(results["accuracy"], "EDICT", nullptr);
  EXPECT_EQ(row["ours"]["mean"], 100.0);
  EXPECT_TRUE(row["published"].is_null());
  EXPECT_TRUE(row["verdict"].is_null());
}

TEST(Results, AFailedMethodShowsThePublishedAlone) {
  const json results = results_of(small_study());
  const json& row = row_of(results["accuracy"], "IPN", 9);
  EXPECT_TRUE(row["ours"].is_null());
  EXPECT_EQ(row["published"]["mean"], 52.5);
  EXPECT_EQ(results["runs"][3]["failure"], "preset <ipn> does not exist");
}

TEST(Results, MarkdownHasARowALevelAndLinks) {
  const std::string text = results_markdown(results_of(small_study()));
  EXPECT_NE(text.find("| Synthetic | 2 | 3 | 20 |"), std::string::npos);
  EXPECT_NE(text.find("| Synthetic | EDICT | extrapolation | MSE | [0.004 ± "
                      "0.002](runs/synthetic-edict-0123abcd/) ≈ | 0.009 ± 0.010 |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n| none |"), std::string::npos);
  EXPECT_NE(text.find("[61.0 ± 1.0](runs/synthetic-edict-0123abcd/) ▲ | 52.1 ± 1.4 |"),
            std::string::npos);
  EXPECT_NE(text.find("- IPN on synthetic: preset <ipn> does not exist"), std::string::npos);
  // Every line of a table has as many cells as its header.
  std::istringstream lines(text);
  std::ptrdiff_t cells = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      cells = 0;
      continue;
    }
    const auto bars = std::count(line.begin(), line.end(), '|');
    if (cells == 0) cells = bars;
    EXPECT_EQ(bars, cells) << line;
  }
}

TEST(Results, TextForATerminalIsAligned) {
  const std::string text = results_text(results_of(small_study()));
  EXPECT_NE(text.find("EDICT w/ EDGR, level 9"), std::string::npos);
  EXPECT_NE(text.find("61.0 ± 1.0       52.1 ± 1.4      ▲"), std::string::npos) << text;
}

}  // namespace
}  // namespace edict
