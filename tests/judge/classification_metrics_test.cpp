// Class metrics against hand counts, brute force over all pairs, and refusals of bad input.
#include "judge/classes/classification_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/error.h"
#include "base/generator.h"
#include "base/json/json.h"
#include "render/json/classes_json.h"

namespace edict {
namespace {

using Labels = std::vector<std::int32_t>;

// Two-class rows from the probability of class 1.
std::vector<double> binary(const std::vector<double>& positive) {
  std::vector<double> rows;
  for (const double p : positive) rows.insert(rows.end(), {1.0 - p, p});
  return rows;
}

struct Split {
  std::vector<double> probability;
  Labels label;
  std::size_t classes;
  Predictions predictions() const { return {probability, label, classes}; }
};

// Probabilities in steps of 1/grid, so that a small grid has many ties.
Split random_split(std::uint64_t seed, std::size_t series, std::size_t classes, int grid) {
  Generator rng(seed);
  Split split{{}, {}, classes};
  for (std::size_t i = 0; i < series; ++i) {
    std::vector<double> row(classes);
    for (int step = 0; step < grid; ++step) row[rng.below(classes)] += 1.0 / grid;
    for (double& p : row) p = std::min(p, 1.0);
    split.probability.insert(split.probability.end(), row.begin(), row.end());
    split.label.push_back(static_cast<std::int32_t>(rng.below(classes)));
  }
  return split;
}

std::string classes_refused(const std::vector<double>& probability, const Labels& label,
                            std::size_t classes) {
  try {
    auroc(Predictions(probability, label, classes));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Auroc, EqualsTheShareOfOrderedPairs) {
  for (const int grid : {2, 5, 50, 1000}) {
    const Split split = random_split(static_cast<std::uint64_t>(grid), 90, 3, grid);
    const Predictions p = split.predictions();
    const Ranking ranking = auroc(p);
    for (std::size_t k = 0; k < 3; ++k) {
      double ordered = 0, pairs = 0;
      for (std::size_t i = 0; i < p.size(); ++i)
        for (std::size_t j = 0; j < p.size(); ++j) {
          if (p.label(i) != k || p.label(j) == k) continue;
          const double a = p.probability(i, k), b = p.probability(j, k);
          ordered += a > b ? 1.0 : a == b ? 0.5 : 0.0;
          ++pairs;
        }
      EXPECT_DOUBLE_EQ(ranking.per_class[k], ordered / pairs) << "grid " << grid;
    }
  }
}

TEST(Auroc, ConstantScoresAreACoinToss) {
  const auto rows = binary(std::vector<double>(7, 0.3));
  const Labels label = {1, 0, 0, 1, 0, 0, 0};
  EXPECT_EQ(auroc(Predictions(rows, label, 2)).value, 0.5);
  EXPECT_DOUBLE_EQ(average_precision(Predictions(rows, label, 2)).value, 2.0 / 7.0);
}

TEST(Auroc, ReversedScoresAreTheComplement) {
  const auto good = binary({0.1, 0.4, 0.35, 0.8}), bad = binary({0.9, 0.6, 0.65, 0.2});
  const Labels label = {0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(auroc(Predictions(good, label, 2)).value, 0.75);
  EXPECT_DOUBLE_EQ(auroc(Predictions(bad, label, 2)).value, 0.25);
  EXPECT_DOUBLE_EQ(average_precision(Predictions(good, label, 2)).value, (1.0 + 2.0 / 3.0) / 2.0);
}

TEST(Auroc, OneClassIsUndefinedAndNamed) {
  EXPECT_EQ(classes_refused(binary({0.2, 0.7, 0.9}), {1, 1, 1}, 2),
            "AUROC is undefined: all 3 series of the split are of class 1; evaluate a split that "
            "holds at least two classes");
  const std::vector<double> rows = {0.2, 0.3, 0.5, 0.1, 0.1, 0.8};
  const Labels label = {2, 2};
  EXPECT_NE(classes_refused(rows, label, 3).find("2 series of the split are of class 2"),
            std::string::npos);
  const Predictions p(rows, label, 3);
  EXPECT_THROW(average_precision(p), Error);
  EXPECT_EQ(accuracy(p), 1.0) << "what is defined can still be asked for";
  const ClassificationResult all = classification_metrics(p);
  EXPECT_TRUE(std::isnan(all.auroc.value));
  EXPECT_EQ(all.accuracy, 1.0);
}

TEST(Auroc, AnAbsentClassIsSkippedAndReported) {
  const Split split = {{0.7, 0.2, 0.1, 0.2, 0.5, 0.3, 0.5, 0.1, 0.4}, {0, 2, 2}, 3};
  const Ranking ranking = auroc(split.predictions());
  EXPECT_EQ(ranking.skipped, Labels{1});
  EXPECT_TRUE(std::isnan(ranking.per_class[1]));
  EXPECT_EQ(ranking.per_class[0], 1.0);
  EXPECT_EQ(ranking.per_class[2], 1.0);
  EXPECT_EQ(ranking.value, 1.0);
  const auto document = to_json(classification_metrics(split.predictions()));
  EXPECT_EQ(document.at("skipped_classes"), nlohmann::json({1}));
  EXPECT_NE(document.dump().find("\"auroc_per_class\":[1.0,null,1.0]"), std::string::npos);
}

TEST(Brier, SumOverClassesIsTwiceTheBinaryScore) {
  const auto rows = binary({0.25, 0.5, 1.0});
  const Labels label = {1, 0, 1};
  EXPECT_DOUBLE_EQ(brier(Predictions(rows, label, 2)), (0.5625 + 0.25) / 3.0);
  std::vector<double> padded;  // a third class of no probability makes it the multi-class score
  for (std::size_t i = 0; i < 3; ++i)
    padded.insert(padded.end(), {rows[2 * i], rows[2 * i + 1], 0.0});
  EXPECT_DOUBLE_EQ(brier(Predictions(padded, label, 3)), 2.0 * (0.5625 + 0.25) / 3.0);
}

TEST(LossOfLogarithm, IsFiniteForACertainMistake) {
  const auto rows = binary({0.0, 0.5});
  const Labels label = {1, 0};
  EXPECT_NEAR(log_loss(Predictions(rows, label, 2)), 0.5 * (52 * std::log(2.0) + std::log(2.0)),
              1e-12);
}

TEST(Confusion, RowsAreTrueClasses) {
  const Split split = {
      {0.6, 0.3, 0.1, 0.1, 0.8, 0.1, 0.4, 0.4, 0.2, 0.2, 0.2, 0.6}, {0, 2, 1, 2}, 3};
  const std::vector<std::size_t> expected = {1, 0, 0, 1, 0, 0, 0, 1, 1};  // a tie goes to the first
  EXPECT_EQ(confusion(split.predictions()), expected);
  EXPECT_EQ(accuracy(split.predictions()), 0.5);
}

TEST(RiskCoverage, RefusesTheLeastCertainFirst) {
  const auto rows = binary({0.95, 0.2, 0.7, 0.4});  // certainty 0.95, 0.8, 0.7, 0.6
  const Labels label = {1, 0, 0, 1};                // right, right, wrong, wrong
  const RiskCoverage curve = risk_coverage(Predictions(rows, label, 2));
  const std::vector<double> expected = {1.0, 1.0, 2.0 / 3.0, 0.5};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(curve.accuracy[i], expected[i]);
  EXPECT_DOUBLE_EQ(curve.aurc, (1.0 / 3.0 + 0.5) / 4.0);
  EXPECT_EQ(curve.at(0.25), 1.0);
  EXPECT_DOUBLE_EQ(curve.at(0.51), 2.0 / 3.0);
  EXPECT_EQ(curve.at(1.0), 0.5);
  EXPECT_THROW(curve.at(0.0), Error);
  EXPECT_THROW(curve.at(1.01), Error);
}

TEST(RiskCoverage, CoverageInDecimalsMeansWholeSeries) {
  RiskCoverage curve{std::vector<double>(100), 0.0};
  std::iota(curve.accuracy.begin(), curve.accuracy.end(), 1.0);
  for (int percent = 1; percent <= 100; ++percent)
    EXPECT_EQ(curve.at(percent / 100.0), percent);  // 0.07·100 rounds to more than 7
}

TEST(RiskCoverage, TiesAreTheMeanOverAllOrders) {
  // Two certain series, then three tied ones; all 3! orders of the tie, by hand.
  const auto rows = binary({0.9, 0.1, 0.75, 0.75, 0.25});
  const Labels label = {0, 0, 1, 0, 0};  // wrong, right | right, wrong, right
  std::vector<double> mean(5);
  std::vector<int> tied = {0, 1, 0};
  std::vector<std::size_t> order = {0, 1, 2};
  do {
    // Certainty 0.9 is a tie as well: half of its two orders starts with the mistake.
    for (const bool mistake_first : {true, false}) {
      const std::vector<int> wrong = {mistake_first, !mistake_first, tied[order[0]], tied[order[1]],
                                      tied[order[2]]};
      int sum = 0;
      for (std::size_t i = 0; i < 5; ++i) {
        sum += wrong[i];
        mean[i] += (1.0 - static_cast<double>(sum) / static_cast<double>(i + 1)) / 12.0;
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  const RiskCoverage curve = risk_coverage(Predictions(rows, label, 2));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(curve.accuracy[i], mean[i], 1e-15) << i;
  EXPECT_NEAR(curve.aurc, 1.0 - std::accumulate(mean.begin(), mean.end(), 0.0) / 5.0, 1e-15);
}

TEST(RiskCoverage, EqualCertaintyGivesTheErrorRateEverywhere) {
  const auto rows = binary({0.75, 0.25, 0.75, 0.25, 0.75});
  const Labels label = {1, 1, 1, 0, 0};
  const RiskCoverage curve = risk_coverage(Predictions(rows, label, 2));
  for (const double a : curve.accuracy) EXPECT_NEAR(a, 0.6, 1e-15);
  EXPECT_NEAR(curve.aurc, 0.4, 1e-15);
}

TEST(Classification, OrderOfTheSeriesDoesNotMatter) {
  const Split split = random_split(5, 60, 3, 7);
  Split reversed{{}, Labels(split.label.rbegin(), split.label.rend()), 3};
  for (std::size_t i = 60; i-- > 0;)
    reversed.probability.insert(reversed.probability.end(), split.probability.begin() + 3 * i,
                                split.probability.begin() + 3 * i + 3);
  const auto a = classification_metrics(split.predictions());
  const auto b = classification_metrics(reversed.predictions());
  EXPECT_EQ(a.auroc.per_class, b.auroc.per_class);
  EXPECT_EQ(a.average_precision.per_class, b.average_precision.per_class);
  EXPECT_EQ(a.risk_coverage.accuracy, b.risk_coverage.accuracy);
  EXPECT_EQ(a.confusion, b.confusion);
  EXPECT_NEAR(a.log_loss, b.log_loss, 1e-13);
}

TEST(Classification, JsonCarriesEveryMetric) {
  const auto rows = binary({0.1, 0.4, 0.35, 0.8});
  const Labels label = {0, 0, 1, 1};
  const auto document = to_json(classification_metrics(Predictions(rows, label, 2)));
  EXPECT_EQ(document.at("series"), 4);
  EXPECT_EQ(document.at("auroc"), 0.75);
  EXPECT_EQ(document.at("accuracy"), 0.75);
  EXPECT_EQ(document.at("confusion"), nlohmann::json::parse("[[2,0],[1,1]]"));
  ASSERT_EQ(document.at("refusing").size(), 20u);
  EXPECT_EQ(document.at("refusing").back().at("accuracy"), 0.75);
  for (const char* key : {"auprc", "brier", "log_loss", "aurc"})
    EXPECT_TRUE(document.at(key).is_number()) << key;
  EXPECT_FALSE(document.contains("auroc_per_class"));
}

TEST(Classification, BadInputIsRefusedWithItsPlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(classes_refused({}, {}, 2),
            "classification of no series: pass a split with labelled series");
  EXPECT_EQ(classes_refused({0.5, 0.5, nan, 0.5}, {0, 1}, 2),
            "probability nan of class 0 in series 1: pass a number from 0 to 1");
  EXPECT_EQ(classes_refused({0.5, 0.5, -0.5, 1.5}, {0, 1}, 2),
            "probability -0.5 of class 0 in series 1: pass a number from 0 to 1");
  EXPECT_EQ(classes_refused({0.5, 0.25, 0.5, 0.5}, {0, 1}, 2),
            "probabilities of series 0 sum to 0.75: pass ones that sum to 1");
  EXPECT_EQ(classes_refused({0.5, 0.5, 0.5, 0.5}, {0, 2}, 2),
            "label 2 of series 1: pass a class from 0 to 1");
  EXPECT_EQ(classes_refused({0.5, 0.5, 0.5, 0.5}, {-1, 1}, 2),
            "label -1 of series 0: pass a class from 0 to 1");
  EXPECT_EQ(classes_refused({0.5, 0.5, 1.0}, {0, 1}, 2),
            "3 probabilities for 2 series of 2 classes: pass one for each");
  EXPECT_EQ(classes_refused({1.0, 1.0}, {0, 0}, 1),
            "classification into 1 classes: pass at least 2");
}

}  // namespace
}  // namespace edict
