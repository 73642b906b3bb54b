#include "edict/protocol/split.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>

#include "edict/core/error.h"
#include "edict/core/generator.h"

namespace edict {
namespace {

// `sizes[k]` series of class k, and `unlabelled` without label, shuffled.
Dataset labelled(const std::vector<int>& sizes, int unlabelled = 0) {
  Dataset d;
  d.features = {"x"};
  std::vector<std::int32_t> labels;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    d.classes.push_back(std::to_string(k));
    labels.insert(labels.end(), static_cast<std::size_t>(sizes[k]), static_cast<std::int32_t>(k));
  }
  labels.insert(labels.end(), static_cast<std::size_t>(unlabelled), Dataset::kNone);
  Generator(99).shuffle(std::span(labels));
  for (const std::int32_t label : labels) d.add_series(fmt::format("s{}", d.size()), label);
  return d;
}

Dataset grouped(const std::vector<int>& sizes) {
  Dataset d;
  d.features = {"x"};
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    d.groups.push_back(fmt::format("g{}", g));
    for (int k = 0; k < sizes[g]; ++k)
      d.add_series(std::to_string(d.size()), Dataset::kNone, static_cast<std::int32_t>(g));
  }
  return d;
}

std::ptrdiff_t count_label(const Dataset& d, const std::vector<std::size_t>& part,
                           std::int32_t label) {
  return std::count_if(part.begin(), part.end(),
                       [&](std::size_t i) { return d.labels[i] == label; });
}

void expect_partition(const Dataset& d, const Split& s) {
  std::vector<std::size_t> all;
  for (const auto* part : {&s.train, &s.validation, &s.test}) {
    EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
    all.insert(all.end(), part->begin(), part->end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), d.size());
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
}

std::string error_of(const Dataset& d, double train, double validation, SplitBy by) {
  try {
    split(d, 0, train, validation, by);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Split, EveryClassHasExactlyItsShare) {
  const Dataset d = labelled({600, 300}, 101);
  const Split s = split(d, 1);
  expect_partition(d, s);
  // 1001 series: 700.7, 100.1 and 200.2 round to 701, 100 and 200.
  EXPECT_EQ(s.train.size(), 701u);
  EXPECT_EQ(s.validation.size(), 100u);
  EXPECT_EQ(s.test.size(), 200u);
  EXPECT_EQ(count_label(d, s.train, 0), 420);
  EXPECT_EQ(count_label(d, s.validation, 0), 60);
  EXPECT_EQ(count_label(d, s.test, 0), 120);
  EXPECT_EQ(count_label(d, s.train, 1), 210);
  EXPECT_EQ(count_label(d, s.validation, 1), 30);
  EXPECT_EQ(count_label(d, s.test, 1), 60);
  EXPECT_EQ(count_label(d, s.train, Dataset::kNone), 71);
}

TEST(Split, TotalsAndSharesHoldForUnevenClasses) {
  for (int n = 3; n < 60; ++n) {
    const std::vector<int> sizes{n, n / 2, n / 3, 1, 1, 1};
    const Dataset d = labelled(sizes, n % 4);
    const Split s = split(d, static_cast<std::uint64_t>(n));
    expect_partition(d, s);
    const auto total = static_cast<double>(d.size());
    EXPECT_LT(std::abs(static_cast<double>(s.train.size()) - 0.7 * total), 1.0);
    EXPECT_LT(std::abs(static_cast<double>(s.test.size()) - 0.2 * total), 1.0);
    EXPECT_FALSE(s.validation.empty());
    // A class has its share rounded one way or the other.
    for (std::size_t k = 0; k < sizes.size(); ++k)
      EXPECT_LT(
          std::abs(static_cast<double>(count_label(d, s.train, static_cast<std::int32_t>(k))) -
                   0.7 * sizes[k]),
          1.0 + 1e-9);
  }
}

TEST(Split, ThreeSeriesMakeThreePartsAndAShareOfZeroMakesNone) {
  const Split three = split(labelled({2, 1}), 4);
  EXPECT_EQ(three.train.size(), 1u);
  EXPECT_EQ(three.validation.size(), 1u);
  EXPECT_EQ(three.test.size(), 1u);
  const Split two = split(labelled({5, 5}), 4, 0.8, 0.0);
  EXPECT_EQ(two.train.size(), 8u);
  EXPECT_TRUE(two.validation.empty());
  EXPECT_EQ(two.test.size(), 2u);
  EXPECT_TRUE(split(labelled({5, 5}), 4, 0.9, 0.1).test.empty());
}

TEST(Split, TheSeedDecides) {
  const Dataset d = labelled({50, 50});
  EXPECT_EQ(split(d, 3).train, split(d, 3).train);
  EXPECT_NE(split(d, 3).train, split(d, 4).train);
}

// Over 2000 seeds each of 20 series is in the test part in a fifth of them: 400 ± 4·√(2000·0.16).
TEST(Split, EverySeriesHasTheSameChance) {
  const Dataset d = labelled({10, 10});
  std::vector<int> tested(20);
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    for (const std::size_t i : split(d, seed).test) ++tested[i];
  for (const int n : tested) EXPECT_NEAR(n, 400, 72);
}

TEST(SplitByGroup, GroupsStayWholeAndSharesAreNear) {
  std::vector<int> sizes;
  for (int g = 0; g < 60; ++g) sizes.push_back(1 + g % 7);
  const Dataset d = grouped(sizes);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Split s = split(d, seed, 0.7, 0.1, SplitBy::group);
    expect_partition(d, s);
    std::vector<std::set<std::int32_t>> groups(3);
    for (const std::size_t i : s.train) groups[0].insert(d.group_of[i]);
    for (const std::size_t i : s.validation) groups[1].insert(d.group_of[i]);
    for (const std::size_t i : s.test) groups[2].insert(d.group_of[i]);
    EXPECT_EQ(groups[0].size() + groups[1].size() + groups[2].size(), sizes.size());
    // Never further off than the largest group.
    EXPECT_NEAR(static_cast<double>(s.train.size()), 0.7 * static_cast<double>(d.size()), 7.0);
    EXPECT_NEAR(static_cast<double>(s.test.size()), 0.2 * static_cast<double>(d.size()), 7.0);
    EXPECT_NEAR(static_cast<double>(s.validation.size()), 0.1 * static_cast<double>(d.size()), 7.0);
  }
  EXPECT_NE(split(d, 0, 0.7, 0.1, SplitBy::group).test, split(d, 1, 0.7, 0.1, SplitBy::group).test);
}

TEST(SplitByGroup, ThreeGroupsOrSingleSeriesFillThreeParts) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Split s = split(grouped({90, 1, 9}), seed, 0.7, 0.1, SplitBy::group);
    EXPECT_FALSE(s.train.empty());
    EXPECT_FALSE(s.validation.empty());
    EXPECT_FALSE(s.test.empty());
  }
  Dataset d = grouped({4});
  for (int k = 0; k < 6; ++k) d.add_series(fmt::format("alone{}", k));
  const Split s = split(d, 0, 0.7, 0.1, SplitBy::group);
  expect_partition(d, s);
  EXPECT_FALSE(s.validation.empty());
}

TEST(SplitError, SaysWhatIsMissing) {
  EXPECT_EQ(error_of(labelled({2}), 0.7, 0.1, SplitBy::label),
            "split: 2 series cannot make three parts; give at least 3");
  EXPECT_EQ(error_of(labelled({9}), 0.7, 0.1, SplitBy::group),
            "split by group: the data has no groups; add a 'group' column or split by label");
  EXPECT_EQ(error_of(grouped({5, 5}), 0.7, 0.1, SplitBy::group),
            "split by group: 2 groups cannot fill 3 parts; split by label or add groups");
  for (const auto& [train, validation] :
       {std::pair{0.0, 0.1}, {-0.1, 0.1}, {0.7, -0.1}, {0.8, 0.3}, {std::nan(""), 0.1}})
    EXPECT_NE(error_of(labelled({9}), train, validation, SplitBy::label).find("shares"),
              std::string::npos);
}

}  // namespace
}  // namespace edict
