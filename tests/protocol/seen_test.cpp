#include "protocol/seen.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json/json.h"
#include "data/subset.h"
#include "research/import/synthetic.h"

namespace edict {
namespace {

SeenSeries seen_of(const Dataset& data, const Split& parts, SplitBy by = SplitBy::series) {
  SeenSeries seen(42);
  seen.add(data, parts, by);
  return seen;
}

TEST(SeenSeries, GivesEverySeriesItsPartWhereverItStands) {
  const Dataset data = generate_synthetic(300, 1);
  const Split parts = split(data, 7);
  const SeenSeries seen = seen_of(data, parts);
  std::vector<std::size_t> reversed;
  for (std::size_t i = data.size(); i-- > 0;) reversed.push_back(i);
  const Dataset other = subset(data, reversed);
  for (const std::size_t i : parts.train) EXPECT_EQ(seen.part_of(data.ids[i]), Part::train);
  const Split found = seen.split(other);
  EXPECT_EQ(found.test.size(), parts.test.size());
  for (const std::size_t i : found.test)
    EXPECT_TRUE(std::count(parts.test.begin(), parts.test.end(), reversed[i]));
  EXPECT_TRUE(found.unseen.empty());
  EXPECT_EQ(seen.part_of("somebody else"), Part::unseen);
  EXPECT_EQ(seen.part_of(""), Part::unseen);
  EXPECT_EQ(seen.count(Part::validation), parts.validation.size());
}

// A stratified split of part of a file is not part of the file's split: what counts is the record.
TEST(SeenSeries, FindsTheRecordedPartsOfAStratifiedSplit) {
  const Dataset data = generate_synthetic(300, 1);
  const auto stratified = [](const Dataset& d) {
    return split(d, 7, 0.7, 0.1, SplitBy::stratified);
  };
  const Split parts = stratified(data);
  const SeenSeries seen = seen_of(data, parts, SplitBy::stratified);
  EXPECT_EQ(seen.split(data).test, parts.test);
  const Dataset some = subset(data, parts.test);
  EXPECT_EQ(seen.split(some).test.size(), some.size());
  EXPECT_LT(stratified(some).test.size(), some.size());
}

TEST(SeenSeries, AnotherSeriesOfAGroupBelongsWhereTheGroupDoes) {
  Dataset data;
  data.features = {"x"};
  data.groups = {"ward A", "ward B"};
  for (int i = 0; i < 4; ++i) data.add_series(std::to_string(i), Dataset::kNone, i / 2);
  const Split parts{{0, 1}, {}, {2, 3}};
  const SeenSeries seen = seen_of(data, parts, SplitBy::group);
  EXPECT_EQ(seen.part_of("new", "ward A"), Part::train);
  EXPECT_EQ(seen.part_of("new", "ward B"), Part::test);
  EXPECT_EQ(seen.part_of("new", "ward C"), Part::unseen);
  EXPECT_EQ(seen.part_of("0", "ward B"), Part::train) << "its own record comes first";
  EXPECT_EQ(seen_of(data, parts).part_of("new", "ward A"), Part::unseen)
      << "by series, groups mean nothing";
}

TEST(SeenSeries, SurvivesItsTextWhichHoldsNoId) {
  const Dataset data = generate_synthetic(50, 1);
  const SeenSeries seen = seen_of(data, split(data, 7));
  const nlohmann::json json = to_json(seen);
  const SeenSeries back = seen_series_from_json(nlohmann::json::parse(json.dump()));
  for (const std::string& id : data.ids) {
    EXPECT_EQ(back.part_of(id), seen.part_of(id));
    EXPECT_EQ(json.dump().find(id), std::string::npos);
  }
  EXPECT_EQ(to_json(back), json);
  // Another salt, other hashes.
  SeenSeries salted(43);
  salted.add(data, split(data, 7), SplitBy::series);
  EXPECT_NE(to_json(salted)["series"], json["series"]);
}

TEST(SeenSeries, WhatIsKnownStaysWhatItIs) {
  const Dataset data = generate_synthetic(3, 1);
  SeenSeries seen = seen_of(data, {{0}, {1}, {}});
  seen.add(data, {{1, 2}, {}, {0}}, SplitBy::series);
  EXPECT_EQ(seen.part_of(data.ids[0]), Part::train);
  EXPECT_EQ(seen.part_of(data.ids[1]), Part::validation);
  EXPECT_EQ(seen.part_of(data.ids[2]), Part::train);
}

TEST(SeenSeries, RefusesDamagedText) {
  const Dataset data = generate_synthetic(3, 1);
  const nlohmann::json good = to_json(seen_of(data, {{0}, {1}, {2}}));
  for (const char* bad : {"0", "00000000000000zz", "0000000000000000 "}) {
    nlohmann::json json = good;
    json["series"]["train"] = bad;
    EXPECT_THROW(seen_series_from_json(json), Error) << bad;
    json = good;
    json["salt"] = bad;
    EXPECT_THROW(seen_series_from_json(json), Error) << bad;
  }
  nlohmann::json json = good;
  json.erase("groups");
  EXPECT_THROW(seen_series_from_json(json), nlohmann::json::exception);
}

}  // namespace
}  // namespace edict
