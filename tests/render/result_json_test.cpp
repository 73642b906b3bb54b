// Results come back from their JSON as they were, and damaged JSON is refused, never half read.
#include "render/json/classes_json.h"
#include "render/json/scores_json.h"
#include "render/json/stress_json.h"
#include "result_json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/generator.h"
#include "judge/evaluate.h"
#include "judge/stress.h"
#include "judge/summarised.h"

namespace edict {
namespace {

using nlohmann::json;

CalibrationResult calibration(std::uint64_t seed) {
  Generator rng(seed, "result json", 0);
  std::vector<SeriesCalibration> series(9);  // the last one stays empty
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t n = 0; n <= i; ++n) {
      Marginal m{};
      m.mean = rng.normal();
      m.scale = 0.5 + rng.uniform();
      m.dof = 4;
      series[i].add(m, rng.normal());
    }
  return summarised(series);
}

// Three classes, of which the last has no series and so no rank: NaN.
ClassificationResult classification(std::uint64_t seed) {
  Generator rng(seed, "result json", 1);
  std::vector<double> probability;
  std::vector<std::int32_t> label;
  for (int i = 0; i < 30; ++i) {
    const double a = rng.uniform(), b = (1 - a) * rng.uniform();
    for (const double p : {a, b, 1 - a - b}) probability.push_back(p);
    label.push_back(i % 2);
  }
  return classification_metrics(Predictions(probability, label, 3));
}

StressResult sweep() {
  StressResult result;
  result.seeds = {4, 7};
  result.series = 30;
  result.unlabelled = 2;
  for (const Guard::Kind kind : {Guard::Kind::population, Guard::Kind::none, Guard::Kind::edgr}) {
    StressCurve& curve = result.curves.emplace_back();
    curve.guard = {kind, 2.5, Guard::Deviation::predictive};
    curve.clean.noise.kind = NoiseKind::drift;
    curve.clean.seeds = {classification(1), classification(2)};
    for (const int level : {0, 9}) {
      StressPoint point{level, noise_at(noise_from_name("drift"), level, 0.8), {}, 0.125};
      point.seeds = {classification(3), classification(4)};
      curve.levels.push_back(point);
    }
  }
  return result;
}

TEST(ResultJson, CalibrationComesBackBitForBit) {
  const CalibrationResult before = calibration(1);
  const CalibrationResult after = through_text(before);
  EXPECT_EQ(after.series, 8u);
  EXPECT_EQ(after.empty_series, 1u);
  EXPECT_EQ(after.ece, before.ece);
  EXPECT_EQ(after.width.back().mean, before.width.back().mean);
  EXPECT_EQ(to_json(after), to_json(before));
}

TEST(ResultJson, AnEvaluationKeepsWhatWasNothingToEvaluate) {
  const Evaluation before{calibration(1), calibration(2), std::nullopt, 12, 3};
  const Evaluation after = through_text(before);
  ASSERT_TRUE(after.interpolation);
  EXPECT_EQ(after.informed_interpolation->mse.mean, before.informed_interpolation->mse.mean);
  EXPECT_FALSE(after.extrapolation);
  EXPECT_EQ(after.absorbed, 12u);
  EXPECT_EQ(after.clipped, 3u);
  EXPECT_EQ(to_json(after), to_json(before));
}

TEST(ResultJson, ClassificationComesBackWithItsUnrankedClass) {
  const ClassificationResult before = classification(1);
  ASSERT_EQ(before.auroc.skipped, (std::vector<std::int32_t>{2}));
  const ClassificationResult after = through_text(before);
  EXPECT_TRUE(std::isnan(after.auroc.per_class[2]));
  EXPECT_EQ(after.auroc.per_class[1], before.auroc.per_class[1]);
  EXPECT_EQ(after.auroc.skipped, before.auroc.skipped);
  EXPECT_EQ(after.confusion, before.confusion);
  EXPECT_EQ(after.risk_coverage.at(0.9), before.risk_coverage.at(0.9));
  EXPECT_EQ(to_json(after).dump(), to_json(before).dump());  // NaN equals null only as text
}

TEST(ResultJson, ASweepComesBackWithItsFirstGuardFirst) {
  const StressResult before = sweep();
  const StressResult after = through_text(before);
  ASSERT_EQ(after.curves.size(), 3u);
  EXPECT_EQ(after.curves[0].guard.kind, Guard::Kind::population);
  EXPECT_EQ(after.curves[0].guard.eta, 2.5);
  EXPECT_EQ(after.curves[0].guard.deviation, Guard::Deviation::predictive);
  const StressCurve* edgr = after.find(Guard::Kind::edgr);
  ASSERT_NE(edgr, nullptr);
  ASSERT_EQ(edgr->levels.size(), 2u);
  EXPECT_EQ(edgr->levels[1].level, 9);
  EXPECT_EQ(edgr->levels[1].noise.kind, NoiseKind::drift);
  EXPECT_EQ(edgr->levels[1].noise.fraction, 0.8);
  EXPECT_EQ(edgr->levels[1].clipped, 0.125);
  EXPECT_EQ(edgr->clean.level, -1);
  EXPECT_EQ(to_json(after).dump(), to_json(before).dump());
}

TEST(ResultJson, NothingThatWasNotSweptIsFound) {
  StressResult result = sweep();
  result.curves.pop_back();
  EXPECT_EQ(result.find(Guard::Kind::edgr), nullptr);
}

TEST(ResultJson, EveryMissingOrWrongFieldOfACalibrationIsRefused) {
  const Evaluation whole{calibration(1), calibration(2), calibration(3)};
  ASSERT_FALSE(refused<Evaluation>(to_json(whole)));
  for (const auto& [what, damaged] : every_damage(to_json(whole)))
    EXPECT_TRUE(refused<Evaluation>(damaged)) << what;
  json shorter = to_json(whole);
  shorter["interpolation"]["coverage"].erase(3);
  EXPECT_TRUE(refused<Evaluation>(shorter));
}

TEST(ResultJson, EveryMissingOrWrongFieldOfAClassificationIsRefused) {
  const json whole = to_json(classification(1));
  for (const auto& [what, damaged] : every_damage(whole)) {
    if (what.starts_with("/refusing/0/coverage")) continue;  // always the same twenty
    EXPECT_TRUE(refused<ClassificationResult>(damaged)) << what;
  }
  json other = whole;
  other["classes"] = 4;  // with a confusion of three
  EXPECT_TRUE(refused<ClassificationResult>(other));
}

TEST(ResultJson, ASweepWithoutOneOfItsSeedsIsRefused) {
  const json whole = to_json(sweep());
  json fewer = whole;
  fewer["guards"]["edgr"]["levels"][1]["seeds"].erase(0);
  EXPECT_TRUE(refused<StressResult>(fewer));
  for (const char* key : {"guard", "guards", "noise", "eta", "sigma", "seeds", "series"}) {
    json damaged = whole;
    damaged.erase(key);
    EXPECT_TRUE(refused<StressResult>(damaged)) << key;
  }
  json unknown = whole;
  unknown["guards"]["something"] = whole["guards"]["edgr"];
  EXPECT_TRUE(refused<StressResult>(unknown));
}

TEST(RiskCoverageSummary, HoldsTheTwentyCoveragesAndNoOther) {
  const ClassificationResult result = classification(1);
  EXPECT_DOUBLE_EQ(result.risk_coverage.at(1.0), result.accuracy);
  EXPECT_EQ(result.risk_coverage.at(0.05), result.risk_coverage.accuracy[0]);
  EXPECT_THROW(result.risk_coverage.at(0.97), Error);
}

}  // namespace
}  // namespace edict
