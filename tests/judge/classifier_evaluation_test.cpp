// Curves, reliability and the prior, against counting by hand and over all thresholds.
#include "judge/classes/classifier_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/generator.h"
#include "base/json/json.h"
#include "engine/small_model.h"
#include "judge/small_classifier.h"
#include "render/json/classes_json.h"
#include "result_json.h"

namespace edict {
namespace {

struct Judged {
  std::vector<double> rows;
  std::vector<std::int32_t> labels;
  Predictions predictions() const { return {rows, labels, 2}; }
};

// Probabilities in steps of 1/grid: many ties.
Judged random_judged(std::uint64_t seed, std::size_t n, std::uint64_t grid) {
  Generator rng(seed, "judged");
  Judged judged;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = static_cast<double>(rng.below(grid + 1)) / static_cast<double>(grid);
    judged.rows.insert(judged.rows.end(), {1 - p, p});
    judged.labels.push_back(rng.uniform() < 0.2 + 0.6 * p ? 1 : 0);
  }
  return judged;
}

TEST(RankingCurve, EveryPointIsTheCountAtItsThreshold) {
  for (const std::uint64_t grid : {3u, 20u, 1000u}) {
    const Judged judged = random_judged(grid, 120, grid);
    const Predictions p = judged.predictions();
    const auto curve = ranking_curve(score_steps(p, 1));
    std::set<double> scores;
    for (std::size_t i = 0; i < p.size(); ++i) scores.insert(p.probability(i, 1));
    ASSERT_EQ(curve.size(), scores.size() + 1);
    EXPECT_EQ(curve.back().true_positive_rate, 1);
    EXPECT_EQ(curve.back().false_positive_rate, 1);
    for (std::size_t k = 1; k < curve.size(); ++k) {
      double tp = 0, fp = 0, positives = 0, negatives = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const bool called = p.probability(i, 1) >= curve[k].threshold;
        (p.label(i) == 1 ? positives : negatives) += 1;
        if (called) (p.label(i) == 1 ? tp : fp) += 1;
      }
      EXPECT_DOUBLE_EQ(curve[k].true_positive_rate, tp / positives);
      EXPECT_DOUBLE_EQ(curve[k].false_positive_rate, fp / negatives);
      EXPECT_DOUBLE_EQ(curve[k].precision, tp / (tp + fp));
    }
  }
}

// The area under the straight lines between the points is the AUROC, ties included; the sum over
// steps of recall is the average precision.
TEST(RankingCurve, AreasAreTheScores) {
  for (const std::uint64_t grid : {1u, 4u, 50u}) {
    const Judged judged = random_judged(10 + grid, 200, grid);
    const auto steps = score_steps(judged.predictions(), 1);
    const auto curve = ranking_curve(steps);
    double area = 0, precision = 0;
    for (std::size_t k = 1; k < curve.size(); ++k) {
      area += (curve[k].false_positive_rate - curve[k - 1].false_positive_rate) *
              (curve[k].true_positive_rate + curve[k - 1].true_positive_rate) / 2;
      precision +=
          (curve[k].true_positive_rate - curve[k - 1].true_positive_rate) * curve[k].precision;
    }
    EXPECT_NEAR(auroc(steps), area, 1e-12);
    EXPECT_NEAR(average_precision(steps), precision, 1e-12);
  }
}

TEST(RankingCurve, LongCurvesKeepBothEnds) {
  const auto steps = score_steps(random_judged(5, 3000, 1u << 30).predictions(), 1);
  const auto curve = ranking_curve(steps, 50);
  ASSERT_EQ(curve.size(), 50u);
  EXPECT_EQ(curve.front().true_positive_rate, 0);
  EXPECT_EQ(curve.back().true_positive_rate, 1);
  EXPECT_EQ(curve.back().false_positive_rate, 1);
}

TEST(Reliability, BinsByHand) {
  const std::vector<double> rows{0.95, 0.05, 0.92, 0.08, 0.4, 0.6, 0.35, 0.65, 0, 1};
  const std::vector<std::int32_t> labels{0, 1, 1, 0, 1};
  const auto bins = reliability(Predictions(rows, labels, 2), 1);
  ASSERT_EQ(bins.size(), kReliabilityBins);
  EXPECT_EQ(bins[0].series, 2u);
  EXPECT_NEAR(bins[0].predicted, 0.065, 1e-12);
  EXPECT_NEAR(bins[0].observed, 0.5, 1e-12);
  EXPECT_EQ(bins[6].series, 2u);
  EXPECT_EQ(bins[9].series, 1u) << "a probability of 1 belongs to the last bin";
  EXPECT_EQ(bins[3].series, 0u);
  EXPECT_NEAR(reliability_error(bins), (2 * 0.435 + 2 * 0.125 + 0) / 5, 1e-12);
}

TEST(ClassifierEvaluation, ThePriorIsWhatSharesAloneGet) {
  const Judged judged = random_judged(3, 90, 10);
  const ClassifierEvaluation e = evaluate_predictions(judged.predictions(), {"no", "yes"});
  double positives = 0;
  for (const std::int32_t label : judged.labels) positives += label;
  const double share = positives / 90;
  EXPECT_NEAR(e.prior.accuracy, std::max(share, 1 - share), 1e-12);
  EXPECT_NEAR(e.prior.brier, share * (1 - share), 1e-12);
  EXPECT_NEAR(e.prior.log_loss, -share * std::log(share) - (1 - share) * std::log(1 - share),
              1e-12);
  EXPECT_NEAR(e.prior.auprc, share, 1e-12);
  ASSERT_EQ(e.judged.size(), 1u);
  EXPECT_EQ(e.judged[0].name, "yes");
  EXPECT_EQ(e.judged[0].auroc, e.result.auroc.value);
  EXPECT_EQ(e.judged[0].auprc, e.result.average_precision.value);
  EXPECT_NEAR(e.judged[0].brier, e.result.brier, 1e-12);
}

// Turning the classes round turns the ranking round: the same AUROC, another AUPRC.
TEST(ClassifierEvaluation, ThePositiveClassIsTheOneAskedFor) {
  const Judged judged = random_judged(8, 90, 10);
  const auto yes = evaluate_predictions(judged.predictions(), {"no", "yes"}, "yes").judged[0];
  const auto no = evaluate_predictions(judged.predictions(), {"no", "yes"}, "no").judged[0];
  EXPECT_EQ(no.positives + yes.positives, 90u);
  EXPECT_NEAR(no.auroc, yes.auroc, 1e-12);
  EXPECT_NE(no.auprc, yes.auprc);
  EXPECT_EQ(refusal_of([&] {
              evaluate_predictions(judged.predictions(), {"no", "yes"}, "maybe");
            }),
            "there is no class 'maybe'; the model's are [no, yes]");
}

TEST(ClassifierEvaluation, ComesBackFromItsJson) {
  ThreadPool pool(2);
  const Model& model = small_classifier();
  const ClassifierEvaluation e =
      evaluate_classifier(model, small_synthetic(), model.split(small_synthetic()).test, pool);
  EXPECT_GT(e.judged[0].auroc, 0.9) << "the classes of Synthetic are easily told apart";
  EXPECT_EQ(to_json(through_text(e)).dump(), to_json(e).dump());
  for (const auto& [what, damaged] : every_damage(to_json(e))) {
    if (what.starts_with("/result/refusing/0/coverage")) continue;  // always the same twenty
    EXPECT_TRUE(refused<ClassifierEvaluation>(damaged)) << what;
  }
}

}  // namespace
}  // namespace edict
