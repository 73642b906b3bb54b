// Calibration of simulated truth: what is drawn from the marginals must come out calibrated, and
// what is not must come out wrong by the amount that theory says.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "base/generator.h"
#include "base/not_finite.h"
#include "judge/calibration_metrics.h"
#include "judge/summarised.h"

namespace edict {
namespace {

// N/√(χ²/dof), from normals alone: no quantile function of the library takes part.
double draw_t(Generator& rng, int dof) {
  double chi2 = 0.0;
  for (int i = 0; i < dof; ++i) {
    const double n = rng.normal();
    chi2 += n * n;
  }
  return rng.normal() / std::sqrt(chi2 / dof);
}

TEST(CalibrationSimulation, TruthIsCalibrated) {
  constexpr std::size_t series = 1000, each = 20;
  Generator rng(42);
  SeriesCalibration current;
  std::vector<SeriesCalibration> judged;
  for (std::size_t s = 0; s < series; ++s) {
    for (std::size_t i = 0; i < each; ++i) {
      const int dof = 3 + static_cast<int>(rng.below(10));
      const double mean = 5.0 * rng.normal(), scale = std::exp(rng.normal());
      current.add({mean, 0.0, 0.0, scale, static_cast<double>(dof)},
                  mean + scale * draw_t(rng, dof));
    }
    judged.push_back(std::exchange(current, {}));
  }
  const CalibrationResult r = summarised(judged);
  const double n = series * each;
  EXPECT_EQ(r.coverage.front().mean, 0.0);
  EXPECT_EQ(r.coverage.back().mean, 1.0);
  for (std::size_t k = 1; k < kLevels - 1; ++k) {
    const double p = interval_levels()[k];
    EXPECT_NEAR(r.coverage[k].mean, p, 4.0 * std::sqrt(p * (1.0 - p) / n)) << "level " << p;
    // The spread over series is that of a binomial share; a sample deviation of 1000 is good to
    // about 1/√2000, and a little worse in the tails of the binomial.
    EXPECT_NEAR(r.coverage[k].std / std::sqrt(p * (1.0 - p) / each), 1.0, 0.12) << "level " << p;
  }
  for (const double bin : r.pit) EXPECT_NEAR(bin, 0.05, 4.0 * std::sqrt(0.05 * 0.95 / n));
  // E|B/n − p| ≈ √(2p(1−p)/(πn)) at most √(1/(2πn)) at every level.
  EXPECT_LT(r.ece, 3.0 / std::sqrt(2.0 * std::numbers::pi * n));
}

// A Gaussian model whose deviation is `factor` times the true one.
CalibrationResult misjudged(double factor) {
  Generator rng(17);
  SeriesCalibration current;
  std::vector<SeriesCalibration> judged;
  for (int s = 0; s < 400; ++s) {
    for (int i = 0; i < 100; ++i)
      current.add({0.0, factor * factor, 0.0, factor, kInfinity}, rng.normal());
    judged.push_back(std::exchange(current, {}));
  }
  return summarised(judged);
}

TEST(CalibrationSimulation, MisjudgedSpreadGivesTheEceOfTheory) {
  for (const double factor : {0.5, 0.8, 2.0}) {
    const CalibrationResult r = misjudged(factor);
    double expected = 0.0;
    for (std::size_t k = 0; k < kWidths; ++k) {
      const double half_width = factor * interval_half_widths(kInfinity)[k];
      EXPECT_NEAR(r.width[k].mean, 2.0 * half_width, 1e-12);
      const double covered = std::erf(half_width / std::numbers::sqrt2);
      expected += std::abs(covered - interval_levels()[k]) / kLevels;
      EXPECT_NEAR(r.coverage[k].mean, covered, 4.0 * std::sqrt(covered * (1.0 - covered) / 4e4));
    }
    // The error of the mean over levels is at most that of the worst level, 0.5/√40000.
    EXPECT_NEAR(r.ece, expected, 4.0 * 0.0025) << "factor " << factor;
    EXPECT_GT(expected, 0.05);
    EXPECT_EQ(r.pit[0] > 0.05, factor < 1.0) << "overconfidence piles up at the ends";
  }
}

TEST(CalibrationSimulation, DividingByTheVarianceIsCaught) {
  // The error of the published coverage code: a deviation of 0.1 taken as 0.01.
  Generator rng(4);
  SeriesCalibration current;
  std::vector<SeriesCalibration> judged;
  for (int i = 0; i < 2000; ++i) {
    current.add({0.0, 1e-4, 0.0, 0.01, kInfinity}, 0.1 * rng.normal());
    judged.push_back(std::exchange(current, {}));
  }
  EXPECT_GT(summarised(judged).ece, 0.35);
}

TEST(CalibrationSimulation, CrpsIsTheExpectedDistance) {
  // CRPS = E|X − x| − ½E|X − X'|.
  Generator rng(23);
  const double mean = 1.0, scale = 0.6;
  for (const int dof : {3, 8}) {
    for (const double x : {-1.0, 1.2, 4.0}) {
      constexpr int draws = 100'000;
      double sum = 0.0, squares = 0.0;
      for (int i = 0; i < draws; ++i) {
        const double a = mean + scale * draw_t(rng, dof), b = mean + scale * draw_t(rng, dof);
        const double term = 0.5 * (std::abs(a - x) + std::abs(b - x)) - 0.5 * std::abs(a - b);
        sum += term;
        squares += term * term;
      }
      const double estimate = sum / draws;
      const double error = std::sqrt((squares / draws - estimate * estimate) / draws);
      SeriesCalibration series;
      series.add({mean, 0.0, 0.0, scale, static_cast<double>(dof)}, x);
      EXPECT_NEAR(series.crps, estimate, 4.0 * error) << "dof " << dof << " x " << x;
    }
  }
}

TEST(CalibrationSimulation, TruthScoresBestInNllAndCrps) {
  double nll[3], crps[3];
  const double factors[3] = {0.5, 1.0, 2.0};
  for (int i = 0; i < 3; ++i) {
    const CalibrationResult r = misjudged(factors[i]);
    nll[i] = r.nll.mean;
    crps[i] = r.crps.mean;
    // E nll = ½ ln 2π + ln f + 1/(2f²); its deviation over 40000 draws is √½/f²/200.
    EXPECT_NEAR(nll[i],
                0.5 * std::log(2.0 * std::numbers::pi) + std::log(factors[i]) +
                    0.5 / (factors[i] * factors[i]),
                4.0 * std::sqrt(0.5) / (factors[i] * factors[i]) / 200.0);
  }
  EXPECT_LT(nll[1], std::min(nll[0], nll[2]));
  EXPECT_LT(crps[1], std::min(crps[0], crps[2]));
}

}  // namespace
}  // namespace edict
