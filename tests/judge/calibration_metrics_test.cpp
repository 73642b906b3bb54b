// Scores against closed forms, and their bookkeeping over series, threads and JSON.
#include "judge/calibration_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/generator.h"
#include "base/json/json.h"
#include "base/not_finite.h"
#include "base/threads/thread_pool.h"
#include "judge/summarised.h"
#include "render/json/scores_json.h"

namespace edict {
namespace {

Marginal student(double mean, double scale, double dof) { return {mean, 0.0, 0.0, scale, dof}; }

SeriesCalibration score(const Marginal& marginal, double x, double unit = 1.0) {
  SeriesCalibration series;
  series.add(marginal, x, unit);
  return series;
}

TEST(Scores, EqualTheClosedFormOfTwoDegreesOfFreedom) {
  // p(z) = (2 + z²)^−³ᐟ², F(z) = ½ + z / (2√(2 + z²)).
  for (const double z : {-4.0, -0.3, 0.0, 1.0, 7.0}) {
    const double scale = 0.7, mean = 3.0;
    const SeriesCalibration s = score(student(mean, scale, 2.0), mean + scale * z);
    EXPECT_NEAR(s.squared_error, scale * scale * z * z, 1e-12);
    EXPECT_NEAR(s.nll, 1.5 * std::log(2.0 + z * z) + std::log(scale), 1e-12) << z;
    const double central = std::abs(z) / std::sqrt(2.0 + z * z);
    for (std::size_t k = 0; k < kLevels; ++k)
      EXPECT_EQ(s.coverage()[k], central <= interval_levels()[k] ? 1.0 : 0.0) << z << " " << k;
    // F(0) is the edge of two bins; elsewhere the bin is certain.
    const double probability = 0.5 + std::copysign(0.5 * central, z);
    EXPECT_EQ(s.pit[static_cast<std::size_t>(probability * 20.0)], 1u) << z;
  }
}

TEST(Scores, EqualTheClosedFormOfTheGaussian) {
  const double std = 2.0, mean = -1.0;
  const SeriesCalibration s = score(student(mean, std, kInfinity), mean);
  EXPECT_DOUBLE_EQ(s.nll, 0.5 * std::log(2.0 * std::numbers::pi) + std::log(std));
  EXPECT_NEAR(s.crps, std * (std::numbers::sqrt2 - 1.0) * std::numbers::inv_sqrtpi, 1e-14);
  for (std::size_t k = 0; k < kWidths; ++k)
    EXPECT_NEAR(std::erf(0.5 * s.width[k] / std / std::numbers::sqrt2), interval_levels()[k],
                1e-12);
}

TEST(Scores, StudentTOfManyDegreesIsTheGaussian) {
  const SeriesCalibration t = score(student(0.0, 1.5, 1e8), 2.0),
                          gauss = score(student(0.0, 1.5, kInfinity), 2.0);
  EXPECT_NEAR(t.nll, gauss.nll, 1e-7);
  EXPECT_NEAR(t.crps, gauss.crps, 1e-7);
  EXPECT_NEAR(t.width.back(), gauss.width.back(), 1e-6);
  EXPECT_EQ(t.first_held, gauss.first_held);
}

TEST(Scores, UnitTurnsStandardisedIntoRaw) {
  const double unit = 7.5;
  const SeriesCalibration standardised = score(student(0.4, 0.8, 5.0), 1.7, unit),
                          raw = score(student(0.4 * unit, 0.8 * unit, 5.0), 1.7 * unit);
  EXPECT_NEAR(standardised.squared_error, raw.squared_error, 1e-12);
  EXPECT_NEAR(standardised.nll, raw.nll, 1e-13);
  EXPECT_NEAR(standardised.crps, raw.crps, 1e-12);
  for (std::size_t k = 0; k < kWidths; ++k) EXPECT_NEAR(standardised.width[k], raw.width[k], 1e-12);
  EXPECT_EQ(standardised.first_held, raw.first_held);
  EXPECT_EQ(standardised.pit, raw.pit);
}

// The interval of level 1 is the whole line.
TEST(Scores, FarValuesFallOutOfEveryIntervalButTheWidest) {
  for (const double dof : {3.0, 40.0, kInfinity})
    for (const double x : {-1e9, 1e9}) {
      const SeriesCalibration s = score(student(0.0, 1.0, dof), x);
      EXPECT_EQ(s.coverage()[18], 0.0);
      EXPECT_EQ(s.coverage()[19], 1.0);
      EXPECT_EQ(s.pit[x < 0 ? 0 : 19], 1u);
      EXPECT_NEAR(s.ece(), 0.45, 1e-15) << "Σ k/19 over k = 0…18, by 20";
    }
}

TEST(Calibration, SeriesWeighTheSameWhateverTheirLength) {
  const Marginal m = student(0.0, 1.0, kInfinity);
  SeriesCalibration current;
  std::vector<SeriesCalibration> judged;
  for (int i = 0; i < 3; ++i) current.add(m, 0.0);  // held by all intervals
  judged.push_back(std::exchange(current, {}));
  judged.push_back(std::exchange(current, {}));  // nothing was held out
  current.add(m, 4.0);                           // held by the whole line alone
  judged.push_back(std::exchange(current, {}));
  const CalibrationResult r = summarised(judged);
  EXPECT_EQ(r.series, 2u);
  EXPECT_EQ(r.empty_series, 1u);
  EXPECT_EQ(r.observations, 4u);
  EXPECT_EQ(r.mse.mean, 8.0);
  EXPECT_EQ(r.mse.std, 8.0);
  for (std::size_t k = 0; k < kWidths; ++k) {
    EXPECT_EQ(r.coverage[k].mean, 0.5);
    EXPECT_EQ(r.coverage[k].std, 0.5);
    EXPECT_NEAR(r.width[k].std, 0.0, 1e-15) << "rounding of a sum of three";
  }
  EXPECT_EQ(r.coverage[19].mean, 1.0);
  EXPECT_EQ(r.coverage[19].std, 0.0);
  // |½ − k/19| over k = 0…18 sums to 90.5/19, and the last level adds nothing.
  EXPECT_NEAR(r.ece, 90.5 / 19.0 / 20.0, 1e-14);
  EXPECT_EQ(r.pit[10], 0.5);
  EXPECT_EQ(r.pit[19], 0.5);
}

// By hand. The narrowest interval that holds z has level |z|/√(2 + z²) (two degrees of freedom);
// the first series has observations of levels 0.1, 0.3 and 0.9, the second one of level 0.5. At
// k/19 the first is covered by 0, ⅓, ⅔, 1 from k = 0, 2, 6, 18 on, the second by 0, 1 from k = 0,
// 10 on, the split by their mean: 0, ⅙, ⅓, ⅚, 1 from k = 0, 2, 6, 10, 18 on.
TEST(Calibration, EceIsThePublishedStatistic) {
  const Marginal m = student(0.0, 1.0, 2.0);
  const auto at_level = [](double level) { return level * std::sqrt(2.0 / (1.0 - level * level)); };
  std::vector<SeriesCalibration> judged(2);
  for (const double level : {0.1, 0.3, 0.9}) judged[0].add(m, at_level(level));
  judged[1].add(m, -at_level(0.5));
  // 114 · |coverage − k/19|: 0 6 | 7 1 5 11 | 2 4 10 16 | 35 29 23 17 11 5 1 7 | 6 0, together 196.
  EXPECT_NEAR(summarised(judged).ece, 196.0 / 114.0 / 20.0, 1e-14);
}

SeriesCalibration random_series(std::size_t index) {
  Generator rng(11, "series", index);
  SeriesCalibration series;
  for (std::uint64_t n = rng.below(8); n > 0; --n)
    series.add(student(rng.normal(), 0.1 + rng.uniform(), 2.0 + 5.0 * rng.uniform()), rng.normal());
  return series;
}

TEST(Calibration, ThreadsChangeNoBit) {
  constexpr std::size_t count = 200;
  std::string first;
  for (const std::size_t threads : {1u, 2u, 5u}) {
    std::vector<SeriesCalibration> series(count);
    ThreadPool pool(threads);
    pool.for_each(count, [&](std::size_t i, std::size_t) { series[i] = random_series(i); });
    const std::string text = to_json(summarised(series)).dump();  // doubles in full
    if (first.empty()) first = text;
    EXPECT_EQ(text, first) << threads << " threads";
  }
}

TEST(Calibration, OrderOfTheSeriesDoesNotMatter) {
  std::vector<SeriesCalibration> series;
  for (std::size_t i = 0; i < 100; ++i) series.push_back(random_series(i));
  const CalibrationResult a = summarised(series);
  Generator(9).shuffle(std::span(series));
  const CalibrationResult b = summarised(series);
  EXPECT_NEAR(a.nll.mean, b.nll.mean, 1e-15 * std::abs(a.nll.mean));
  EXPECT_NEAR(a.crps.std, b.crps.std, 1e-15);
  EXPECT_NEAR(a.ece, b.ece, 1e-15);
}

TEST(Calibration, JsonCarriesEveryMetric) {
  const std::vector<SeriesCalibration> series = {score(student(0.0, 1.0, 3.0), 1.0)};
  const auto document = to_json(summarised(series));
  for (const char* key : {"mse", "nll", "crps"}) {
    EXPECT_TRUE(document.at(key).at("mean").is_number()) << key;
    EXPECT_EQ(document.at(key).at("std"), 0.0) << key;
  }
  EXPECT_EQ(document.at("mse").at("mean"), 1.0);
  EXPECT_TRUE(document.at("ece").is_number());
  for (const char* key : {"level", "coverage", "pit"})
    EXPECT_EQ(document.at(key).size(), 20u) << key;
  EXPECT_EQ(document.at("width").size(), 19u) << "the whole line has none";
  EXPECT_EQ(document.at("coverage")[19].at("mean"), 1.0);
}

std::string refusal(const Marginal& marginal, double x, double unit = 1.0) {
  SeriesCalibration series;
  try {
    series.add(marginal, x, unit);
  } catch (const Error& error) {
    EXPECT_EQ(series.observations, 0u) << "what is refused must leave no trace";
    EXPECT_EQ(series.nll, 0.0);
    return error.what();
  }
  return "accepted";
}

TEST(Calibration, BadInputIsRefused) {
  const double nan = std::nan("");
  EXPECT_EQ(refusal(student(nan, 1.0, 3.0), 0.0),
            "predictive distribution with mean nan, scale 1, dof 3: pass a finite mean, a finite "
            "scale above 0 and dof above 1");
  EXPECT_NE(refusal(student(0.0, 0.0, 3.0), 0.0).find("scale 0"), std::string::npos);
  EXPECT_NE(refusal(student(0.0, kInfinity, 3.0), 0.0).find("scale inf"), std::string::npos);
  EXPECT_NE(refusal(student(0.0, 1.0, 1.0), 0.0).find("dof 1"), std::string::npos);
  EXPECT_NE(refusal(student(0.0, 1.0, nan), 0.0).find("dof nan"), std::string::npos);
  EXPECT_EQ(refusal(student(0.0, 1.0, 3.0), nan), "observation nan: pass a finite number");
  EXPECT_EQ(refusal(student(0.0, 1.0, 3.0), 0.0, 0.0), "unit 0: pass a finite number above 0");
  EXPECT_NE(refusal(student(0.0, 1.0, kInfinity), 1e200).find("no finite score"),
            std::string::npos);
  EXPECT_NE(refusal(student(0.0, 1e-300, 3.0), 1e100).find("no finite score"), std::string::npos);
  EXPECT_THROW(summarised({}), Error);
  EXPECT_THROW(summarised(std::vector<SeriesCalibration>(3)), Error);
}

}  // namespace
}  // namespace edict
