// Figures of one model's quality: every number of a result is where it belongs.
#include "render/evaluation_figures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "render/markup.h"

namespace edict::report {
namespace {

EpochRow epoch(std::int64_t number, double nll, double validation, bool best) {
  EpochRow row;
  row.epoch = number;
  row.nll = nll;
  row.validation_nll = validation;
  row.best = best;
  return row;
}

TEST(LearningFigure, TwoLinesAndTheKeptEpoch) {
  const std::string text =
      learning_figure({epoch(1, 3, 2, true), epoch(2, 2, 1, true), epoch(3, 1, 2, false)});
  EXPECT_EQ(attributes(text, "polyline", "class"), (std::vector<std::string>{"first", "other"}));
  const auto lines = attributes(text, "polyline", "points");
  // Training falls by as much as the plot rises from its lowest to its highest loss.
  EXPECT_EQ(coordinates(lines[0]).size(), 2u) << "a straight line";
  EXPECT_EQ(coordinates(lines[1]).size(), 3u);
  EXPECT_NEAR(coordinates(lines[1])[1].second, coordinates(lines[0])[1].second, 0.11);
  EXPECT_EQ(count(text, "class=\"cut\""), 1u);
  EXPECT_EQ(learning_figure({}), "");
}

TEST(LearningFigure, OfClassesWhereTheyJudged) {
  EpochRow row;
  row.epoch = 1;
  row.validation_cross_entropy = 0.4;
  EXPECT_NE(learning_figure({row}).find("cross-entropy"), std::string::npos);
  EXPECT_EQ(learning_figure({epoch(1, 1, 1, true)}).find("cross-entropy"), std::string::npos);
}

ScoredGroup group(const std::string& name, double mse) {
  ScoredGroup g{name, 12, 2.5, {}, {}, {}};
  g.model = {mse, 0.5, -0.25, 0.75, {0.51, 0.91, 0.96}};
  g.last_value = {2 * mse, 1, std::nan(""), 1, {}};
  g.training_mean = {3 * mse, 1, 1, 1, {}};
  return g;
}

TEST(PitFigure, ABarABinAndTheIdealLine) {
  TaskBreakdown task{group("all", 1), {}, {}, {}};
  task.pit.fill(0.05);
  const std::string text = pit_figure(task, "PIT");
  EXPECT_EQ(count(text, "class=\"bar\""), kPitBins);
  // A flat histogram ends at the ideal line: half of the height from 0 to 2.
  const auto bars = attributes(text, "polygon", "points");
  const auto ideal = attributes(text, "polyline", "points").back();
  EXPECT_NEAR(coordinates(bars[3])[0].second, coordinates(ideal)[0].second, 0.11);
}

TEST(ScoresTable, ARowAGroupWithBaselinesAndDashes) {
  const std::string text = scores_table({group("<a>", 0.125), group("b", 0.5)}, "feature");
  EXPECT_EQ(count(text, "<tr>"), 3u);
  EXPECT_NE(text.find("<th>&lt;a&gt;</th><td>12</td><td>0.1250</td><td>0.2500</td><td>0.3750</td>"
                      "<td>0.5000</td><td>1.25</td><td>-0.2500</td>"),
            std::string::npos)
      << text;
  ScoredGroup useless = group("c", 1);
  useless.last_value.mse = 0.5;
  EXPECT_NE(scores_table({useless}, "feature").find("1.0000 ▼"), std::string::npos);
  EXPECT_EQ(text.find("▼"), std::string::npos);
  EXPECT_NE(text.find("<td>51.0</td><td>91.0</td><td>96.0</td>"), std::string::npos);
  TaskBreakdown task{group("all", 1), {}, {group("up to 1", 0.1), group("over 1", 0.3)}, {}};
  EXPECT_EQ(attributes(horizon_figure(task, "h"), "polyline", "class"),
            (std::vector<std::string>{"first", "other", "third"}));
}

TEST(ClassFigures, CurvesReachTheirCorners) {
  const std::vector<double> rows{0.9, 0.1, 0.6, 0.4, 0.3, 0.7, 0.2, 0.8};
  const std::vector<std::int32_t> labels{0, 1, 0, 1};
  const ClassifierEvaluation e =
      evaluate_predictions(Predictions(rows, labels, 2), {"no", "<yes>"});
  const std::string roc = roc_figure(e);
  const auto curve = coordinates(attributes(roc, "polyline", "points")[1]);
  const auto ideal = coordinates(attributes(roc, "polyline", "points")[0]);
  EXPECT_EQ(curve.front(), ideal.front());
  EXPECT_EQ(curve.back(), ideal.back());
  EXPECT_NE(roc.find("&lt;yes&gt;: AUROC 0.750"), std::string::npos) << roc;
  EXPECT_NE(precision_recall_figure(e).find("share 0.500"), std::string::npos);
  EXPECT_EQ(count(reliability_figure(e), "class=\"first-dot\""), 4u);
  EXPECT_NE(confusion_table(e).find("<th>no</th><td>1</td><td>1</td>"), std::string::npos);
  EXPECT_NE(classifier_table(e).find("<th>class shares alone</th><td>50.0</td><td>0.5000</td>"),
            std::string::npos);
}

}  // namespace
}  // namespace edict::report
