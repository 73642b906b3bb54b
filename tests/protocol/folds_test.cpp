// The folds of a cross-validation belong to ids.
#include "protocol/folds.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "data/subset.h"

namespace edict {
namespace {

Dataset series(int count, int groups = 0) {
  Dataset d;
  d.features = {"x"};
  for (int g = 0; g < groups; ++g) d.groups.push_back(fmt::format("g{}", g));
  for (int i = 0; i < count; ++i)
    d.add_series(fmt::format("s{}", i), Dataset::kNone, groups > 0 ? i % groups : Dataset::kNone);
  return d;
}

// The fold in which each series judges.
std::map<std::string, std::size_t> judged_in(const Dataset& d, const std::vector<Split>& folds) {
  std::map<std::string, std::size_t> fold;
  for (std::size_t f = 0; f < folds.size(); ++f)
    for (const std::size_t i : folds[f].test)
      EXPECT_TRUE(fold.emplace(d.ids[i], f).second) << d.ids[i] << " judges twice";
  return fold;
}

TEST(Folds, EverySeriesOutsideTheTestSplitJudgesOnceAndNeverWhatItTrained) {
  const Dataset d = series(2000);
  const DataSettings settings;
  const std::vector<Split> folds = cross_validation_splits(d, settings, 5);
  ASSERT_EQ(folds.size(), 5u);
  const Split usual = split(d, settings);
  const auto judged = judged_in(d, folds);
  EXPECT_EQ(judged.size(), d.size() - usual.test.size());
  for (const std::size_t i : usual.test) EXPECT_FALSE(judged.contains(d.ids[i]));
  for (const Split& fold : folds) {
    EXPECT_EQ(fold.train.size() + fold.validation.size() + fold.test.size(), judged.size());
    std::vector<std::size_t> all = fold.train;
    all.insert(all.end(), fold.validation.begin(), fold.validation.end());
    all.insert(all.end(), fold.test.begin(), fold.test.end());
    std::sort(all.begin(), all.end());
    EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
    // A fifth of about 1,600, give or take five deviations of √(1600·0.2·0.8) = 16.
    EXPECT_NEAR(static_cast<double>(fold.test.size()), 320, 80);
    // An eighth of the rest chooses, as validation does beside 0.7 and 0.1.
    EXPECT_NEAR(static_cast<double>(fold.validation.size()), 160, 60);
  }
}

TEST(Folds, OtherSeriesAndTheirOrderMoveNone) {
  const Dataset all = series(600);
  std::vector<std::size_t> some;
  for (std::size_t i = all.size(); i-- > 0;)
    if (i % 3 != 0) some.push_back(i);
  const Dataset fewer = subset(all, some);
  const auto before = judged_in(all, cross_validation_splits(all, {}, 4));
  for (const auto& [id, fold] : judged_in(fewer, cross_validation_splits(fewer, {}, 4)))
    EXPECT_EQ(before.at(id), fold) << id;
}

TEST(Folds, ByGroupWholeGroupsJudgeTogether) {
  const Dataset d = series(900, 60);
  DataSettings settings;
  settings.split = SplitBy::group;
  const auto judged = judged_in(d, cross_validation_splits(d, settings, 3));
  std::map<std::string, std::size_t> of_group;
  for (std::size_t i = 0; i < d.size(); ++i)
    if (judged.contains(d.ids[i])) {
      const auto fold = judged.at(d.ids[i]);
      EXPECT_EQ(of_group.try_emplace(std::string(d.group_name(i)), fold).first->second, fold);
    }
}

TEST(Folds, StratifiedFoldsShareEveryClassEvenly) {
  Dataset d = series(1003);
  d.classes = {"often", "rare"};
  for (std::size_t i = 0; i < d.size(); ++i) d.labels.edit()[i] = i % 20 == 0 ? 1 : 0;
  DataSettings settings;
  settings.split = SplitBy::stratified;
  const Split usual = split(d, settings);
  for (const std::int32_t label : {0, 1}) {
    const auto of_label = [&](const std::vector<std::size_t>& part) {
      return static_cast<double>(
          std::ranges::count(part, label, [&](std::size_t i) { return d.labels[i]; }));
    };
    for (const Split& fold : cross_validation_splits(d, settings, 5))
      EXPECT_LT(
          std::abs(of_label(fold.test) - (of_label(usual.train) + of_label(usual.validation)) / 5),
          1.0 + 1e-9);
  }
}

TEST(Folds, TooFewSeriesAreOneClearLine) {
  try {
    cross_validation_splits(series(4), {}, 10);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("give fewer folds"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace edict
