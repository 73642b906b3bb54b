#include "research/report/results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/json/json.h"
#include "render/small_study.h"

namespace edict::report {
namespace {

const ScoreRow& row_of(const std::vector<ScoreRow>& rows, const std::string& method,
                       const std::optional<int>& level) {
  for (const ScoreRow& row : rows)
    if (row.method == method && row.level == level) return row;
  throw std::runtime_error("no such row");
}

const CalibrationRow& row_of(const Results& results, Task task, Metric metric) {
  for (const CalibrationRow& row : results.calibration)
    if (row.task == task && row.metric == metric) return row;
  throw std::runtime_error("no such row");
}

// The lines that hold `what`.
std::vector<std::string> lines_with(const std::string& text, const std::string& what) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(what) != std::string::npos) found.push_back(line);
  return found;
}

TEST(Verdict, BetterEqualWorse) {
  // 1.2 and 1.0 differ by more than the larger deviation 0.1.
  EXPECT_EQ(verdict({1.2, 0.05}, {1.0, 0.1}, false, 1), Verdict::better);
  EXPECT_EQ(verdict({1.2, 0.05}, {1.0, 0.1}, true, 1), Verdict::worse);
  EXPECT_EQ(verdict({1.2, 0.2}, {1.0, 0.1}, true, 1), Verdict::equal);
  EXPECT_EQ(verdict({1.2, 0.1}, {1.0, 0.2}, true, 1), Verdict::equal);
}

// 99.96 is published as 100.0.
TEST(Verdict, RoundingOfThePublishedHidesNoDifference) {
  EXPECT_EQ(verdict({99.96, 0}, {100.0, 0}, false, 1), Verdict::equal);
  EXPECT_EQ(verdict({99.90, 0}, {100.0, 0}, false, 1), Verdict::worse);
}

TEST(Verdict, EachHasItsOwnMarkAndNoneHasNone) {
  EXPECT_EQ(mark(Verdict::better), " ▲");
  EXPECT_EQ(mark(Verdict::equal), " ≈");
  EXPECT_EQ(mark(Verdict::worse), " ▼");
  EXPECT_EQ(mark(std::nullopt), "");
}

TEST(Results, CalibrationBesideThePublished) {
  const Results results = results_of(small_study());
  ASSERT_EQ(results.calibration.size(), 4u);  // of EDICT; nothing is published of the others
  const CalibrationRow& mse = row_of(results, Task::extrapolation, Metric::mse);
  EXPECT_EQ(mse.value.ours->mean, 0.004);
  EXPECT_EQ(mse.value.published->mean, 0.009);
  EXPECT_EQ(mse.value.verdict, Verdict::equal);  // published ± 0.01
}

// Ours is 0.15 and 0.05, published are 0.083 ± 0.049 and 0.129 ± 0.077.
TEST(Results, TheErrorOfTheSplitIsComparedWithThePublished) {
  const Results results = results_of(small_study());
  const CalibrationRow& inside = row_of(results, Task::interpolation, Metric::ece);
  EXPECT_EQ(inside.value.ours->mean, 0.15);
  EXPECT_TRUE(std::isnan(inside.value.ours->std)) << "of one training";
  EXPECT_EQ(inside.value.published->mean, 0.083);
  EXPECT_EQ(inside.value.verdict, Verdict::worse);
  const CalibrationRow& after = row_of(results, Task::extrapolation, Metric::ece);
  EXPECT_EQ(after.value.ours->mean, 0.05);
  EXPECT_EQ(after.value.verdict, Verdict::better);
  EXPECT_EQ(
      lines_with(results_markdown(results), "extrapolation | ECE"),
      (std::vector<std::string>{"| Synthetic | EDICT | extrapolation | ECE | "
                                "[0.050](runs/synthetic-edict-0123abcd/) ▲ | 0.129 ± 0.077 |"}));
}

TEST(Results, ScoresAreMeanAndDeviationOverSeeds) {
  const Results results = results_of(small_study());
  const Comparison& own = row_of(results.accuracy, "EDICT", 9).value;
  EXPECT_NEAR(own.ours->mean, 61.0, 1e-12);
  EXPECT_NEAR(own.ours->std, 1.0, 1e-12);
  EXPECT_EQ(own.verdict, Verdict::better);  // published 52.1 ± 1.4
  const Comparison& guarded = row_of(results.accuracy, "EDICT w/ EDGR", 9).value;
  EXPECT_NEAR(guarded.ours->mean, 70.0, 1e-12);
  EXPECT_EQ(guarded.verdict, Verdict::worse);  // published 77.1 ± 1.0
  EXPECT_EQ(row_of(results.auroc, "EDICT", 9).value.published->mean, 53.0);
  EXPECT_NEAR(row_of(results.auroc, "EDICT", 9).value.ours->mean, 66.0, 1e-12);
}

TEST(Results, SeveralTrainingsAreOneNumber) {
  const Results results = results_of(small_study());
  const Comparison& value = row_of(results.accuracy, "GRU-D", 9).value;
  EXPECT_NEAR(value.ours->mean, 52.0, 1e-12);
  EXPECT_NEAR(value.ours->std, 2.0, 1e-12);
  EXPECT_EQ(value.runs,
            (std::vector<std::string>{"synthetic-gru-d-00000001", "synthetic-gru-d-00000002"}));
  EXPECT_EQ(value.verdict, Verdict::equal);  // published 53.0
}

TEST(Results, CalibrationOfSeveralTrainingsIsTheirMean) {
  Study study = small_study();
  study.runs.push_back(study.runs[0]);
  study.runs.back().seed = 1;
  study.runs.back().results.evaluation->interpolation = calibration(0.040, 0.05);
  const Results results = results_of(study);
  const CalibrationRow& mse = row_of(results, Task::interpolation, Metric::mse);
  EXPECT_NEAR(mse.value.ours->mean, 0.030, 1e-12);
  EXPECT_NEAR(mse.value.ours->std, 0.002, 1e-12);  // over series, of each
  const CalibrationRow& ece = row_of(results, Task::interpolation, Metric::ece);
  EXPECT_NEAR(ece.value.ours->mean, 0.10, 1e-12);
  EXPECT_NEAR(ece.value.ours->std, 0.05, 1e-12);  // over the two trainings
}

TEST(Results, WithoutNoiseThereIsNothingPublished) {
  const Results results = results_of(small_study());
  const Comparison& value = row_of(results.accuracy, "EDICT", std::nullopt).value;
  EXPECT_EQ(value.ours->mean, 100.0);
  EXPECT_FALSE(value.published);
  EXPECT_FALSE(value.verdict);
}

TEST(Results, AFailedMethodShowsThePublishedAlone) {
  const Results results = results_of(small_study());
  const Comparison& value = row_of(results.accuracy, "IPN", 9).value;
  EXPECT_FALSE(value.ours);
  EXPECT_FALSE(value.verdict);
  EXPECT_EQ(value.published->mean, 52.5);
  EXPECT_EQ(results.runs[3].failure, "preset <ipn> does not exist");
}

// A sweep from an earlier plan, with other levels or guards, has no number for the others.
TEST(Results, ALevelOrGuardThatWasNotSweptIsLeftOut) {
  Study study = small_study();
  study.plan.levels = {0, 5, 9};
  study.runs[0].results.stress->curves.pop_back();  // EDGR
  const Results results = results_of(study);
  EXPECT_FALSE(row_of(results.accuracy, "EDICT", 5).value.ours);
  EXPECT_FALSE(row_of(results.accuracy, "EDICT w/ EDGR", 9).value.ours);
  EXPECT_TRUE(row_of(results.accuracy, "EDICT", 9).value.ours);
}

TEST(Results, JsonHasEveryTableAndNullWhereThereIsNothing) {
  const Results results = results_of(small_study());
  const nlohmann::json json = to_json(results);
  EXPECT_EQ(json.at("levels"), (std::vector<int>{0, 9}));
  EXPECT_EQ(json.at("seeds"), (std::vector<int>{0, 1}));
  ASSERT_EQ(json.at("datasets").size(), 1u);
  EXPECT_EQ(json.at("datasets")[0].at("dataset"), "Synthetic");
  EXPECT_EQ(json.at("datasets")[0].at("series"), 20);
  EXPECT_EQ(json.at("datasets")[0].at("published").at("series"), 10000);
  const auto& ece = json.at("calibration").at(1);
  EXPECT_EQ(ece.at("metric"), "ECE");
  EXPECT_EQ(ece.at("verdict"), "worse");
  EXPECT_EQ(ece.at("ours").at("mean"), 0.15);
  EXPECT_EQ(json.at("accuracy").size(), results.accuracy.size());
  EXPECT_TRUE(json.at("accuracy")[0].at("level").is_null());
  EXPECT_TRUE(json.at("accuracy")[0].at("published").is_null());
  EXPECT_TRUE(json.at("runs")[0].at("failure").is_null());
  EXPECT_EQ(json.at("runs")[3].at("failure"), "preset <ipn> does not exist");
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
  EXPECT_NE(text.find("- IPN on synthetic: preset \\<ipn> does not exist"), std::string::npos);
}

// Every line of a table has as many cells as its header, whatever the names are.
TEST(Results, MarkdownTablesStayWhole) {
  for (const std::string& hostile : {std::string(), std::string(" | a [b](c) <script>")}) {
    const std::string text = results_markdown(results_of(small_study(hostile)));
    std::istringstream lines(text);
    std::ptrdiff_t cells = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("|")) {
        cells = 0;
        continue;
      }
      std::ptrdiff_t bars = 0;
      for (std::size_t i = 0; i < line.size(); ++i)
        bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
      if (cells == 0) cells = bars;
      EXPECT_EQ(bars, cells) << line;
    }
    EXPECT_EQ(text.find(" <script>"), std::string::npos);
  }
}

TEST(Results, TextForATerminalIsAligned) {
  const std::string text = results_text(results_of(small_study()));
  EXPECT_NE(text.find("EDICT w/ EDGR, level 9"), std::string::npos);
  EXPECT_NE(text.find("61.0 ± 1.0       52.1 ± 1.4      ▲"), std::string::npos) << text;
  EXPECT_EQ(lines_with(text, "interpolation ECE")[0].find("0.083"),
            lines_with(text, "interpolation MSE")[0].find("0.124") - 1)
      << "± is two bytes";
}

TEST(ValueText, ADashWhereThereIsNone) {
  EXPECT_EQ(value_text(MeanStd{0.1236, 0.29}, 3), "0.124 ± 0.290");
  EXPECT_EQ(value_text(MeanStd{0.1236, std::nan("")}, 3), "0.124");
  EXPECT_EQ(value_text(std::nullopt, 3), "–");
}

}  // namespace
}  // namespace edict::report
