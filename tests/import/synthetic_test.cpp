#include "research/import/synthetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <vector>

namespace edict {
namespace {

constexpr std::size_t kSeries = 20000;
constexpr double kEnd = 4.0 * std::numbers::pi;

const Dataset& many() {
  static const Dataset dataset = generate_synthetic(kSeries, 11);
  return dataset;
}

// Index of the grid point a time stands on.
double grid_index(double time) { return time * 250.0 / kEnd; }

TEST(Synthetic, NamesAndClasses) {
  const Dataset& d = many();
  EXPECT_EQ(d.features, (std::vector<std::string>{"x1", "x2", "x3"}));
  EXPECT_EQ(d.classes, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(d.ids[0], "s00000");
  EXPECT_EQ(d.ids[12345], "s12345");
  double ones = 0.0;
  for (const auto label : d.labels) ones += label;
  EXPECT_NEAR(ones / kSeries, 0.5, 4.0 * 0.5 / std::sqrt(kSeries));
}

TEST(Synthetic, TimesAreDistinctGridPoints) {
  const Dataset& d = many();
  std::set<long> used;
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t e = d.first_event[i]; e < d.first_event[i + 1]; ++e) {
      const double index = grid_index(d.times[e]);
      ASSERT_NEAR(index, std::round(index), 1e-9);
      used.insert(std::lround(index));
      if (e > d.first_event[i]) {
        ASSERT_GT(d.times[e], d.times[e - 1]);
      }
    }
  EXPECT_EQ(used.size(), 251u);
  EXPECT_EQ(*used.begin(), 0);
  EXPECT_EQ(*used.rbegin(), 250);
}

// K is uniform on 12 … 36 (mean 24, variance 52) and a row survives with probability 7/8: 21 rows,
// variance 52·(7/8)² + 24·7/64. An observed row holds 1.5/(7/8) values.
TEST(Synthetic, AboutTwentyOneRowsASeries) {
  const Dataset& d = many();
  const double variance = 52.0 * 49.0 / 64.0 + 24.0 * 7.0 / 64.0;
  EXPECT_NEAR(static_cast<double>(d.events()) / kSeries, 21.0, 4.0 * std::sqrt(variance / kSeries));
  // Values a series: 36 in the mean, variance 52·1.5² + 24·0.75.
  EXPECT_NEAR(static_cast<double>(d.observations()) / kSeries, 36.0,
              4.0 * std::sqrt((52.0 * 2.25 + 18.0) / kSeries));
  std::size_t most = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    EXPECT_GT(d.events(i), 0u);
    most = std::max(most, d.events(i));
  }
  EXPECT_LE(most, 36u);
}

// Over the phases the waves have mean 0 and mean square ½a², to which the noise adds 0.01² on the
// value and about (a·0.01)²/2 through the time, in all below 0.0003. Four standard errors allowed.
TEST(Synthetic, MomentsOfEachFeatureByClassAndTime) {
  const Dataset& d = many();
  const double means[2][3] = {{0.1, 1.6, 0.5}, {-0.1, -0.4, -1.5}};
  for (const double from : {0.0, 3.0, 9.0}) {
    double sum[2][3] = {}, squares[2][3] = {}, amplitude[2][3] = {}, count[2][3] = {};
    for (std::size_t i = 0; i < d.size(); ++i)
      for (std::size_t e = d.first_event[i]; e < d.first_event[i + 1]; ++e) {
        if (d.times[e] < from || d.times[e] > from + 1.0) continue;
        const double a = 1.0 / (1.0 + d.times[e] / 2.0);
        for (const Observation& o : d.observed(e)) {
          const auto y = static_cast<std::size_t>(d.labels[i]);
          const auto f = static_cast<std::size_t>(o.feature);
          const double x = o.value - means[y][f];
          sum[y][f] += x;
          squares[y][f] += x * x;
          amplitude[y][f] += 0.5 * a * a;
          ++count[y][f];
        }
      }
    for (int y = 0; y < 2; ++y)
      for (int f = 0; f < 3; ++f) {
        const double n = count[y][f], expected = amplitude[y][f] / n;
        ASSERT_GT(n, 5000);
        // Values of one series are alike: about two of a feature fall in the window, so n/2 count.
        EXPECT_NEAR(sum[y][f] / n, 0.0, 4.0 * std::sqrt(expected / (n / 2)));
        EXPECT_NEAR(squares[y][f] / n, expected, 0.0003 + 4.0 * expected / std::sqrt(n / 2));
      }
  }
}

// In class 0 features 1 and 2 are cosine and sine of one phase: (x1−m1)² + (x2−m2)² = a(τ)² but for
// the noise. In class 1 this holds for features 1 and 3. The noise of three deviations of 0.01 on
// the radius is borne 5-fold.
TEST(Synthetic, TheInformativePairMovesOnACircle) {
  const Dataset& d = many();
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < 2000; ++i)
    for (std::size_t e = d.first_event[i]; e < d.first_event[i + 1]; ++e) {
      const std::int32_t partner = d.labels[i] == 0 ? 1 : 2;
      double cosine = std::nan(""), sine = std::nan("");
      for (const Observation& o : d.observed(e)) {
        if (o.feature == 0) cosine = o.value - (d.labels[i] == 0 ? 0.1 : -0.1);
        if (o.feature == partner) sine = o.value - (d.labels[i] == 0 ? 1.6 : -1.5);
      }
      if (std::isnan(cosine) || std::isnan(sine)) continue;
      ++pairs;
      const double a = 1.0 / (1.0 + d.times[e] / 2.0);
      ASSERT_NEAR(std::hypot(cosine, sine), a, 0.075);
    }
  EXPECT_GT(pairs, 9000u);
}

TEST(Synthetic, ASeriesDependsOnSeedAndIndexOnly) {
  const Dataset few = generate_synthetic(5, 11);
  for (std::size_t o = 0; o < few.observations(); ++o) ASSERT_EQ(few.value[o], many().value[o]);
  EXPECT_EQ(few.times, std::vector<double>(many().times.begin(),
                                           many().times.begin() + static_cast<long>(few.events())));
  EXPECT_NE(generate_synthetic(5, 12).times, few.times);
  EXPECT_EQ(generate_synthetic(0, 1).size(), 0u);
}

}  // namespace
}  // namespace edict
