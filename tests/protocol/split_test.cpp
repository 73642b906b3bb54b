#include "protocol/split.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "base/generator.h"
#include "data/match.h"
#include "data/read/csv/csv.h"
#include "data/subset.h"

namespace edict {
namespace {

// Three classes of different sizes, some series without one.
Dataset labelled(int series) {
  Dataset d;
  d.features = {"x"};
  d.classes = {"often", "seldom", "rare"};
  Generator rng(99);
  for (int i = 0; i < series; ++i) {
    const double u = rng.uniform();
    d.add_series(fmt::format("s{}", i), u < 0.6 ? 0 : u < 0.85 ? 1 : u < 0.95 ? 2 : Dataset::kNone);
  }
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

std::map<std::string, Part> parts_by_id(const Dataset& d, Split s) {
  std::map<std::string, Part> parts;
  for (const Part part : {Part::train, Part::validation, Part::test})
    for (const std::size_t i : s[part]) EXPECT_TRUE(parts.emplace(d.ids[i], part).second);
  EXPECT_EQ(parts.size(), d.size());
  return parts;
}

std::string error_of(const Dataset& d, double train, double validation, SplitBy by) {
  try {
    split(d, 0, train, validation, by);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Binomial counts: four standard deviations, √(n·p·(1−p)).
TEST(Split, SharesHoldInExpectationForEveryClass) {
  const Dataset d = labelled(20000);
  Split s = split(d, 1);
  parts_by_id(d, s);
  for (std::int32_t label = Dataset::kNone; label < 3; ++label) {
    const auto of_label = [&](const std::vector<std::size_t>& part) {
      return static_cast<double>(std::count_if(
          part.begin(), part.end(), [&](std::size_t i) { return d.labels[i] == label; }));
    };
    const auto n = static_cast<double>(std::count(d.labels.begin(), d.labels.end(), label));
    for (const auto& [part, share] :
         {std::pair{Part::train, 0.7}, {Part::validation, 0.1}, {Part::test, 0.2}})
      EXPECT_NEAR(of_label(s[part]), n * share, 4 * std::sqrt(n * share * (1 - share)));
  }
}

TEST(Split, ListsAreAscendingAndAShareOfZeroMakesNone) {
  const Dataset d = labelled(500);
  const Split s = split(d, 4, 0.6, 0.2);
  for (const auto* part : {&s.train, &s.validation, &s.test})
    EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
  EXPECT_TRUE(s.unseen.empty());
  EXPECT_TRUE(split(d, 4, 0.8, 0.0).validation.empty());
  EXPECT_TRUE(split(d, 4, 0.9, 0.1).test.empty());
  EXPECT_TRUE(split(d, 4, 0.7, 0.3).test.empty());
}

TEST(Split, TheSeedDecides) {
  const Dataset d = labelled(100);
  EXPECT_EQ(split(d, 3).train, split(d, 3).train);
  EXPECT_NE(split(d, 3).train, split(d, 4).train);
}

// Over 2000 seeds each of 20 series is in the test part in a fifth of them: 400 ± 4·√(2000·0.16).
TEST(Split, EverySeriesHasTheSameChance) {
  const Dataset d = labelled(20);
  std::vector<int> tested(20);
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    for (const std::size_t i : split(d, seed).test) ++tested[i];
  for (const int n : tested) EXPECT_NEAR(n, 400, 72);
}

// What the split may not depend on, each in turn.
TEST(Split, BelongsToTheIdAndTheSeedAlone) {
  for (const SplitBy by : {SplitBy::series, SplitBy::group}) {
    Dataset d = labelled(300);
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (i % 7 == 0) continue;  // some series have no group
      d.group_of[i] = static_cast<std::int32_t>(i / 5);
    }
    for (int g = 0; g < 60; ++g) d.groups.push_back(fmt::format("g{}", g));
    const auto parts = [by](const Dataset& data) {
      return parts_by_id(data, split(data, 11, 0.7, 0.1, by));
    };
    const auto expected = parts(d);

    std::vector<std::size_t> order(d.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = d.size() - 1 - i;
    EXPECT_EQ(parts(subset(d, order)), expected) << "descending ids";
    Generator(5).shuffle(std::span(order));
    EXPECT_EQ(parts(subset(d, order)), expected) << "shuffled";

    Dataset relabelled = d;
    relabelled.classes[0] = "zebra";
    for (auto& label : relabelled.labels.edit()) label = label == 1 ? Dataset::kNone : 0;
    EXPECT_EQ(parts(relabelled), expected) << "other labels";

    EXPECT_EQ(parts(match_columns(d, {"y", "x"}, {"age"}).data), expected) << "other columns";

    Dataset larger = d;
    larger.groups.push_back("new");
    for (int i = 0; i < 100; ++i)
      larger.add_series(fmt::format("foreign{}", i), Dataset::kNone, i % 2 == 0 ? 60 : -1);
    auto of_larger = parts(larger);
    std::erase_if(of_larger, [](const auto& entry) { return entry.first.starts_with("foreign"); });
    EXPECT_EQ(of_larger, expected) << "more series";

    order.resize(200);
    for (const auto& [id, part] : parts(subset(d, order))) EXPECT_EQ(part, expected.at(id));
  }
}

TEST(Split, CopiesOfASeriesAreOnOneSide) {
  const Dataset d = labelled(100);
  std::vector<std::size_t> twice;
  for (std::size_t i = 0; i < d.size(); ++i) twice.insert(twice.end(), {i, i});
  const Dataset both = subset(d, twice);
  const auto whole = parts_by_id(d, split(d, 3)), drawn = parts_by_id(both, split(both, 3));
  const auto stratified = parts_by_id(both, split(both, 3, 0.7, 0.1, SplitBy::stratified));
  ASSERT_EQ(drawn.size(), 200u);
  for (const auto& [id, part] : drawn) {
    const std::string original(original_id(id));
    EXPECT_EQ(part, whole.at(original)) << id;
    EXPECT_EQ(stratified.at(id), stratified.at(original)) << id;
  }
}

TEST(SplitByGroup, GroupsStayWholeAndSharesAreNear) {
  std::vector<int> sizes;
  for (int g = 0; g < 600; ++g) sizes.push_back(1 + g % 7);
  const Dataset d = grouped(sizes);
  const Split s = split(d, 3, 0.7, 0.1, SplitBy::group);
  parts_by_id(d, s);
  std::vector<std::set<std::int32_t>> groups(3);
  for (const std::size_t i : s.train) groups[0].insert(d.group_of[i]);
  for (const std::size_t i : s.validation) groups[1].insert(d.group_of[i]);
  for (const std::size_t i : s.test) groups[2].insert(d.group_of[i]);
  EXPECT_EQ(groups[0].size() + groups[1].size() + groups[2].size(), sizes.size());
  // 600 groups: four standard deviations of the binomial count.
  EXPECT_NEAR(static_cast<double>(groups[0].size()), 420, 4 * std::sqrt(600 * 0.21));
  EXPECT_NEAR(static_cast<double>(groups[2].size()), 120, 4 * std::sqrt(600 * 0.16));
  EXPECT_NE(s.test, split(d, 4, 0.7, 0.1, SplitBy::group).test);
}

TEST(SplitByGroup, ASeriesWithoutGroupIsOnItsOwn) {
  Dataset d = grouped({4});
  for (int k = 0; k < 200; ++k) d.add_series(fmt::format("alone{}", k));
  auto by_group = parts_by_id(d, split(d, 0, 0.7, 0.1, SplitBy::group));
  for (const auto& [id, part] : parts_by_id(d, split(d, 0)))
    if (id.starts_with("alone")) {
      EXPECT_EQ(by_group.at(id), part);
    }
}

// The number of series of a class in a part.
double count_of(const Dataset& d, const std::vector<std::size_t>& part, std::int32_t label) {
  return static_cast<double>(
      std::ranges::count(part, label, [&](std::size_t i) { return d.labels[i]; }));
}

TEST(StratifiedSplit, EveryShareHoldsWithinEveryClass) {
  for (const int series : {20, 333, 5000}) {
    const Dataset d = labelled(series);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Split s = split(d, seed, 0.7, 0.1, SplitBy::stratified);
      parts_by_id(d, s);
      for (std::int32_t label = Dataset::kNone; label < 3; ++label) {
        const auto n = static_cast<double>(std::count(d.labels.begin(), d.labels.end(), label));
        for (const auto& [part, share] :
             {std::pair{Part::train, 0.7}, {Part::validation, 0.1}, {Part::test, 0.2}}) {
          EXPECT_LT(std::abs(count_of(d, s[part], label) - n * share), 1.0 + 1e-9);
          EXPECT_TRUE(std::is_sorted(s[part].begin(), s[part].end()));
        }
      }
    }
  }
}

TEST(StratifiedSplit, IsDrawnFromSeedAndIds) {
  const Dataset d = labelled(300);
  const auto parts = [](const Dataset& data, std::uint64_t seed) {
    return parts_by_id(data, split(data, seed, 0.7, 0.1, SplitBy::stratified));
  };
  const auto expected = parts(d, 11);
  std::vector<std::size_t> order(d.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Generator(5).shuffle(std::span(order));
  EXPECT_EQ(parts(subset(d, order), 11), expected) << "order of the rows";
  Dataset renamed = d;
  std::swap(renamed.classes[0], renamed.classes[1]);
  for (auto& label : renamed.labels.edit())
    if (label == 0 || label == 1) label = 1 - label;
  EXPECT_EQ(parts(renamed, 11), expected) << "order of the classes";
  EXPECT_NE(parts(d, 12), expected);
}

// Over 3000 seeds each of 6 series is in the test part in a fifth of them: 600 ± 4·√(3000·0.16).
// The class of one series and the series without label go with the shares, too.
TEST(StratifiedSplit, EverySeriesHasTheSameChance) {
  Dataset d;
  d.features = {"x"};
  d.classes = {"three", "one"};
  for (const std::int32_t label : {0, 0, 0, 1, Dataset::kNone, Dataset::kNone})
    d.add_series(fmt::format("s{}", d.size()), label);
  std::vector<int> tested(d.size());
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    for (const std::size_t i : split(d, seed, 0.7, 0.1, SplitBy::stratified).test) ++tested[i];
  for (const int n : tested) EXPECT_NEAR(n, 600, 88);
}

TEST(StratifiedSplit, IsWhatTheSettingChooses) {
  const Dataset d = labelled(200);
  DataSettings settings;
  settings.split = SplitBy::stratified;
  EXPECT_EQ(split(d, settings).train, split(d, 0, 0.7, 0.1, SplitBy::stratified).train);
  EXPECT_NE(split(d, settings).train, split(d, 0).train);
}

TEST(SplitError, SaysWhatIsMissing) {
  EXPECT_EQ(error_of(labelled(9), 0.7, 0.1, SplitBy::group),
            "split by group: the data has no groups; add a 'group' column or split by series");
  for (const auto& [train, validation] :
       {std::pair{0.0, 0.1}, {-0.1, 0.1}, {0.7, -0.1}, {0.8, 0.3}, {std::nan(""), 0.1}})
    EXPECT_NE(error_of(labelled(9), train, validation, SplitBy::series).find("shares"),
              std::string::npos);
}

TEST(SplitError, AnEmptyPartIsRefusedOnlyWhereTrainingNeedsIt) {
  DataSettings settings;
  settings.seed = 3;
  EXPECT_NO_THROW(check_trainable({{0, 1}, {2}, {}}, settings));
  try {
    check_trainable({{0, 1}, {}, {2}}, settings);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the validation split is empty: with data.seed = 3 and data.validation = 0.1 none "
                 "of the 3 series falls into it; choose another data.seed, raise data.validation "
                 "or add series");
  }
  EXPECT_THROW(check_trainable({{}, {1}, {2}}, settings), Error);
}

}  // namespace
}  // namespace edict
