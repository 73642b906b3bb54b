// Mean and deviation where the usual formulas lose their digits.
#include "data/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/generator.h"

namespace edict {
namespace {

// By two passes; what came by once must have said the same.
Moments of(const std::vector<double>& values) {
  const Moments twice = moments_of(1, [&](auto visit) {
    for (const double value : values) visit(std::size_t{0}, value);
  })[0];
  RunningMoments running;
  for (const double value : values) running.add(value);
  const Moments once = running.result();
  EXPECT_EQ(once.count, twice.count);
  if (values.empty()) {
    EXPECT_TRUE(std::isnan(once.mean) && std::isnan(once.std));
    return twice;
  }
  EXPECT_EQ(once.min, twice.min);
  EXPECT_EQ(once.max, twice.max);
  EXPECT_EQ(once.mean, twice.mean);
  EXPECT_NEAR(once.std, twice.std, 1e-14 * twice.std);
  return twice;
}

TEST(Moments, OfNothingAreUnknown) {
  const Moments m = of({});
  EXPECT_EQ(m.count, 0u);
  for (const double value : {m.min, m.max, m.mean, m.std}) EXPECT_TRUE(std::isnan(value));
}

TEST(Moments, OfOneValueAreThatValue) {
  const Moments m = of({-7.25});
  EXPECT_EQ(m.count, 1u);
  EXPECT_EQ(m.min, -7.25);
  EXPECT_EQ(m.max, -7.25);
  EXPECT_EQ(m.mean, -7.25);
  EXPECT_EQ(m.std, 0.0);
}

TEST(Moments, TheDeviationIsThatOfThePopulation) {
  const Moments m = of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(m.mean, 5.0);
  EXPECT_EQ(m.std, 2.0);
  EXPECT_EQ(m.min, 2.0);
  EXPECT_EQ(m.max, 9.0);
}

// E[x²] − E[x]² would give 0 or less: the squares are near 1e24, their digits end at 1e8.
TEST(Moments, SmallChangesFarFromZeroAreSeen) {
  const Moments m = of({1e12 - 1, 1e12, 1e12 + 1});
  EXPECT_EQ(m.mean, 1e12);
  EXPECT_NEAR(m.std, std::sqrt(2.0 / 3.0), 1e-12);
}

// 0.1 has no finite binary form: a thousand of them do not average to it exactly.
TEST(Moments, AConstantHasNoDeviationAtAll) {
  const Moments m = of(std::vector<double>(1000, 0.1));
  EXPECT_EQ(m.mean, 0.1);
  EXPECT_EQ(m.std, 0.0);
}

TEST(Moments, TheLargestNumbersDoNotOverflow) {
  const double big = std::numeric_limits<double>::max();
  const Moments m = of({-big, big});
  EXPECT_EQ(m.mean, 0.0);
  EXPECT_EQ(m.std, big);
  EXPECT_EQ(of({big, big / 2}).max, big);
}

TEST(Moments, OfManyValuesAreTheSameInOnePass) {
  for (const double centre : {0.0, 3.0, 1e6}) {
    Generator random(4, "moments", static_cast<std::uint64_t>(centre));
    std::vector<double> values;
    for (int i = 0; i < 20000; ++i) values.push_back(centre + random.normal());
    EXPECT_NEAR(of(values).std, 1.0, 0.02);
  }
}

TEST(Moments, EntriesAreApart) {
  const auto m = moments_of(3, [](auto visit) {
    visit(std::size_t{2}, 1.0);
    visit(std::size_t{0}, 5.0);
    visit(std::size_t{2}, 3.0);
  });
  EXPECT_EQ(m[0].mean, 5.0);
  EXPECT_EQ(m[1].count, 0u);
  EXPECT_EQ(m[2].mean, 2.0);
  EXPECT_EQ(m[2].std, 1.0);
}

TEST(EachKnownStatic, LeavesOutWhatIsMissingAndOtherSeries) {
  Dataset data;
  data.statics = {"age", "weight"};
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const double a[] = {20, unknown}, b[] = {30, 60}, c[] = {unknown, 70};
  data.add_series("a", Dataset::kNone, Dataset::kNone, a);
  data.add_series("b", Dataset::kNone, Dataset::kNone, b);
  data.add_series("c", Dataset::kNone, Dataset::kNone, c);
  std::vector<std::pair<std::size_t, double>> visited;
  each_known_static(data, std::vector<std::size_t>{2, 0},
                    [&](std::size_t s, double value) { visited.emplace_back(s, value); });
  EXPECT_EQ(visited, (std::vector<std::pair<std::size_t, double>>{{1, 70}, {0, 20}}));
}

}  // namespace
}  // namespace edict
