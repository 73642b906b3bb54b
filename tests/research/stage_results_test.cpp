// The results that study/ has types of its own for, through JSON and back.
#include "render/json/scores_json.h"
#include "research/stage_results.h"

#include <gtest/gtest.h>

#include <cmath>

#include "render/browse.h"
#include "result_json.h"

namespace edict::study {
namespace {

using nlohmann::json;

Browse small_browse() {
  const BrowsedBand band{{0.1, 0.2}, {1.0, 2.0}, {0.5, 0.5}, {0.25, 0.125}, {{3, 9, 1, 5}}};
  BrowsedSeries series;
  series.id = "s\"1";
  series.label = "b";
  series.times = {0, 6};
  series.features = {{"x1", {{1, 0.4}}, {{5, 0.6}}, {{1, 0.5}, {5, 0.7}}}};
  series.forecast = {{band}, {{0.5, 0.2}, {0.5, 0.8}}};
  series.noisy = {{band}, {{0.5, 0.1}, {0.5, 0.9}}};
  return {0.9, 4.5, 3, {"a", "b"}, {series}};
}

TEST(TrainingSummary, ComesBack) {
  const TrainingSummary after = through_text(TrainingSummary{3, 1234, 2, {0.5, 0.25, NAN}});
  EXPECT_EQ(after.epochs, 3);
  EXPECT_EQ(after.parameters, 1234);
  EXPECT_EQ(after.best_epoch, 2);
  ASSERT_EQ(after.validation.size(), 3u);
  EXPECT_EQ(after.validation[1], 0.25);
  EXPECT_TRUE(std::isnan(after.validation[2]));
  EXPECT_FALSE(through_text(TrainingSummary{}).best_epoch);
}

TEST(ClassifierScores, ComeBack) {
  const ClassifierScores after = through_text(ClassifierScores{{{4, 7, 0.9, 0.3}, {5, 1, 0.8, 1}}});
  ASSERT_EQ(after.seeds.size(), 2u);
  EXPECT_EQ(after.seeds[0].seed, 4);
  EXPECT_EQ(after.seeds[0].epoch, 7);
  EXPECT_EQ(after.seeds[0].validation_accuracy, 0.9);
  EXPECT_EQ(after.seeds[1].validation_cross_entropy, 1.0);
}

TEST(Browse, ComesBack) {
  const Browse before = small_browse(), after = through_text(before);
  EXPECT_EQ(to_json(after), to_json(before));
  EXPECT_EQ(after.level, 0.9);
  EXPECT_EQ(after.t_cut, 4.5);
  EXPECT_EQ(after.noise_level, 3);
  EXPECT_EQ(after.classes, before.classes);
  ASSERT_EQ(after.series.size(), 1u);
  const BrowsedSeries& series = after.series[0];
  EXPECT_EQ(series.id, "s\"1");
  EXPECT_EQ(series.label, "b");
  EXPECT_EQ(series.features[0].noisy, before.series[0].features[0].noisy);
  EXPECT_EQ(series.noisy.probability[1][1], 0.9);
  EXPECT_EQ(series.forecast.features[0].clips[0].sigmas, 5.0);
  Browse unlabelled = before;
  unlabelled.series[0].label.reset();
  EXPECT_FALSE(through_text(unlabelled).series[0].label);
}

TEST(StageResults, EveryMissingOrWrongFieldIsRefused) {
  const json training = to_json(TrainingSummary{3, 1, 2, {1, 2, 3}});
  const json scores = to_json(ClassifierScores{{{1, 2, 3, 4}}});
  const json browse = to_json(small_browse());
  for (const auto& [what, damaged] : every_damage(training))
    EXPECT_TRUE(refused<TrainingSummary>(damaged)) << what;
  for (const auto& [what, damaged] : every_damage(scores))
    EXPECT_TRUE(refused<ClassifierScores>(damaged)) << what;
  for (const auto& [what, damaged] : every_damage(browse))
    EXPECT_TRUE(refused<Browse>(damaged)) << what;
}

}  // namespace
}  // namespace edict::study
