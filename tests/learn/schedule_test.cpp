#include "learn/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace edict {
namespace {

TrainSettings settings(Schedule schedule, double warmup) {
  TrainSettings s;
  s.learning_rate = 2.0;
  s.schedule = schedule;
  s.warmup = warmup;
  return s;
}

TEST(Schedule, ConstantIsConstant) {
  for (const std::int64_t step : {0, 1, 50, 99})
    EXPECT_EQ(learning_rate(settings(Schedule::constant, 0), step, 100), 2.0);
}

// 2 · (1 + cos πx)/2 at x = 0, 1/4, 1/2, 3/4: 2, 1 + √½, 1, 1 − √½.
TEST(Schedule, CosineByHand) {
  const TrainSettings cosine = settings(Schedule::cosine, 0);
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 0, 100), 2.0);
  EXPECT_NEAR(learning_rate(cosine, 25, 100), 1 + std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(learning_rate(cosine, 50, 100), 1.0, 1e-12);
  EXPECT_NEAR(learning_rate(cosine, 75, 100), 1 - std::sqrt(0.5), 1e-12);
  EXPECT_GT(learning_rate(cosine, 99, 100), 0.0) << "the last step still learns";
}

// Over the first tenth of 100 steps the rate rises by equal parts, from one part and to all of
// them at the eleventh step.
TEST(Schedule, WarmUpRisesInEqualPartsToTheFullRate) {
  for (const Schedule kind : {Schedule::constant, Schedule::cosine}) {
    const TrainSettings warm = settings(kind, 0.1);
    for (std::int64_t step = 0; step <= 10; ++step)
      EXPECT_NEAR(learning_rate(warm, step, 100), 2.0 * static_cast<double>(step + 1) / 11, 1e-12)
          << step;
  }
  // The cosine takes what is left: its middle is at 55.
  EXPECT_NEAR(learning_rate(settings(Schedule::cosine, 0.1), 55, 100), 1.0, 1e-12);
}

TEST(Schedule, AllOfTheRunMayBeWarmUp) {
  for (std::int64_t step = 0; step < 10; ++step)
    EXPECT_NEAR(learning_rate(settings(Schedule::cosine, 1.0), step, 10),
                2.0 * static_cast<double>(step + 1) / 11, 1e-12);
}

// What depends_on_epochs says is what the rates do.
TEST(Schedule, DependsOnTheEpochsWhereItSaysSo) {
  for (const Schedule kind : {Schedule::constant, Schedule::cosine})
    for (const double warmup : {0.0, 0.2}) {
      const TrainSettings s = settings(kind, warmup);
      bool differs = false;
      for (std::int64_t step = 0; step < 50; ++step)
        differs = differs || learning_rate(s, step, 50) != learning_rate(s, step, 100);
      EXPECT_EQ(depends_on_epochs(s), differs) << edict::settings::name_of(kind) << " " << warmup;
    }
}

}  // namespace
}  // namespace edict
