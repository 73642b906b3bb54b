#include "protocol/standardise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/generator.h"
#include "protocol/protocol.h"

namespace edict {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

Dataset of_values(std::vector<std::vector<double>> series) {
  Dataset d;
  d.features = {"x"};
  for (const auto& values : series) {
    d.add_series(std::to_string(d.size()));
    double time = 0.0;
    for (const double value : values) {
      d.add_event(time++);
      d.add_observation(0, value);
    }
  }
  return d;
}

TEST(Standardise, MeanAndPopulationDeviationOfTheListedSeriesBeforeTheCut) {
  const Dataset d = of_values({{1, 2, 3, 100}, {1000, 2000}, {4}});
  const std::size_t series[] = {0, 2};
  const Standardisation fit = fit_standardisation(d, series, 3.0);
  EXPECT_DOUBLE_EQ(fit.mean[0], 2.5);
  EXPECT_DOUBLE_EQ(fit.scale[0], std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(fit.to_standard(0, 2.5 + std::sqrt(1.25)), 1.0);
  EXPECT_DOUBLE_EQ(fit.to_raw(0, -2.0), 2.5 - 2.0 * std::sqrt(1.25));
}

TEST(Standardise, WithoutVarianceOrObservationTheScaleIsOne) {
  Dataset d = of_values({{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}});
  d.features.push_back("never");
  const std::size_t series[] = {0};
  const Standardisation fit = fit_standardisation(d, series, kForever);
  EXPECT_EQ(fit.mean, (std::vector<double>{0.1, 0.0}));
  EXPECT_EQ(fit.scale, (std::vector<double>{1.0, 1.0}));
  EXPECT_EQ(never_observed(d, series, kForever), std::vector<std::size_t>{1});
  EXPECT_EQ(never_observed(d, series, 0.0), (std::vector<std::size_t>{0, 1}));
}

// 10⁹ + N(0, 1): a sum of squares in doubles would lose all of the variance. The standard error of
// a deviation over n values is 1/√(2n) = 0.0022; five of them are allowed.
TEST(Standardise, SurvivesALargeOffset) {
  Generator rng(2);
  std::vector<double> near_zero(100000), far;
  for (double& value : near_zero) far.push_back(1e9 + (value = rng.normal()));
  const std::size_t series[] = {0};
  const auto a = fit_standardisation(of_values({near_zero}), series, kForever);
  const auto b = fit_standardisation(of_values({far}), series, kForever);
  EXPECT_NEAR(b.scale[0], 1.0, 0.011);
  EXPECT_NEAR(b.scale[0], a.scale[0], 1e-6);
  EXPECT_NEAR(b.mean[0] - 1e9, a.mean[0], 1e-6);
}

// Beyond them a variance in the data's unit is no finite number above 0.
TEST(Standardise, DeviationsReachFromTenToMinus100ToTenTo100) {
  const std::size_t series[] = {0};
  for (const double size : {1e-99, 1e99}) {
    const auto fit = fit_standardisation(of_values({{size, -size}}), series, kForever);
    EXPECT_EQ(fit.mean[0], 0.0);
    EXPECT_DOUBLE_EQ(fit.scale[0], size);
  }
  for (const double size : {5e-324, 1e-101, 1e101, 1e308})
    EXPECT_THROW(fit_standardisation(of_values({{size, -size}}), series, kForever), Error) << size;
}

TEST(Standardise, StaticCovariatesIgnoreWhatIsMissingAndFillItWithTheMean) {
  Dataset d;
  d.features = {"x"};
  d.statics = {"age", "unknown"};
  const double missing = std::nan("");
  for (const double age : {10.0, missing, 30.0, 1000.0}) {
    const double covariates[] = {age, missing};
    d.add_series(std::to_string(d.size()), Dataset::kNone, Dataset::kNone, covariates);
  }
  const std::size_t series[] = {0, 1, 2};
  const Standardisation fit = fit_standardisation(d, series, kForever);
  EXPECT_EQ(fit.statics_mean, (std::vector<double>{20.0, 0.0}));
  EXPECT_EQ(fit.statics_scale, (std::vector<double>{10.0, 1.0}));
  Protocol protocol;
  protocol.standardisation = fit;
  std::vector<float> seen;  // by the model
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t c = 0; c < 2; ++c)
      seen.push_back(protocol.to_model_covariate(c, d.covariates(i)[c]));
  EXPECT_EQ(seen, (std::vector<float>{-1, 0, 0, 0, 1, 0, 98, 0}));
}

TEST(Standardise, WhatTheModelSeesHasMeanZeroAndDeviationOneAndComesBack) {
  Dataset d = of_values({{3, 5, 11}, {-2, 8}});
  const std::size_t series[] = {0, 1};
  const Standardisation fit = fit_standardisation(d, series, kForever);
  for (double& value : d.value.edit()) {
    const double z = fit.to_standard(0, value);
    EXPECT_NEAR(fit.to_raw(0, z), value, 1e-14);  // one rounding of numbers up to 11
    value = z;
  }
  const auto again = fit_standardisation(d, series, kForever);
  EXPECT_NEAR(again.mean[0], 0.0, 1e-15);
  EXPECT_NEAR(again.scale[0], 1.0, 1e-15);
}

// One value in the wrong unit among two thousand leaves the scale of the others alone (N8).
TEST(Standardise, OneValueInTheWrongUnitDoesNotWidenTheScale) {
  Dataset data;
  data.features = {"x"};
  data.add_series("a");
  Generator random(4);
  for (int e = 0; e < 2100; ++e) {
    data.add_event(e);
    data.add_observation(0, 37 + 1.2 * random.normal());
  }
  const std::vector<std::size_t> all = {0};
  const Standardisation plain = fit_standardisation(data, all, 1e9);
  data.value[1000] = 30000;
  const Standardisation spoilt = fit_standardisation(data, all, 1e9);
  EXPECT_NEAR(plain.scale[0], 1.2, 0.05);
  EXPECT_NEAR(spoilt.scale[0] / plain.scale[0], 1.0, 0.25);
  EXPECT_NEAR(spoilt.mean[0], plain.mean[0], 0.05);
}

}  // namespace
}  // namespace edict
