// Columns are found by their names: what stands where in the file means nothing.
#include "data/match.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "data/fingerprint.h"
#include "data/full_dataset.h"

namespace edict {
namespace {

TEST(MatchColumns, OtherOrderIsTheSameData) {
  const Dataset d = full();
  const Dataset permuted = read_csv_text(
      "z,static:weight,id,label,y,static:age,time,x,group\n"
      "3,60,a,no,,20,0,1,g\n"
      ",60,a,no,4,20,1,3,g\n"
      "7,,b,yes,,30,-1,5,h\n"
      "9,,b,yes,8,30,9,,h\n",
      "f");
  ASSERT_NE(fingerprint(permuted), fingerprint(d));
  const MatchedData matched = match_columns(permuted, d.features, d.statics);
  EXPECT_EQ(fingerprint(matched.data), fingerprint(d));
  EXPECT_TRUE(matched.notes.empty());
}

TEST(MatchColumns, ExtraOnesAreIgnoredAndMissingOnesNeverObserved) {
  const MatchedData matched = match_columns(full(), {"y", "pulse"}, {"height", "age"});
  matched.data.check();
  EXPECT_EQ(matched.data.features, (std::vector<std::string>{"y", "pulse"}));
  // The events that held only x and z are gone, the series stay.
  EXPECT_EQ(matched.data.size(), 2u);
  EXPECT_EQ(matched.data.times, (std::vector<double>{1, 9}));
  EXPECT_EQ(matched.data.value, (std::vector<double>{4, 8}));
  EXPECT_EQ(matched.data.feature, (std::vector<std::int32_t>{0, 0}));
  EXPECT_TRUE(std::isnan(matched.data.covariates(0)[0]));
  EXPECT_EQ(matched.data.covariates(1)[1], 30.0);
  EXPECT_EQ(matched.notes,
            (std::vector<std::string>{
                "ignored, as the model does not know them: 'x', 'z'",
                "never observed, as the data do not have them: 'pulse'",
                "static covariates ignored, as the model does not know them: 'weight'",
                "static covariates missing in the data: 'height'"}));
}

TEST(MatchColumns, NamesInAnotherCaseAreTheModelsWhereNoOtherIsMeant) {
  const MatchedData matched = match_columns(full(), {"X", "y", "Z"}, {"Age", "weight"});
  EXPECT_EQ(matched.data.features, (std::vector<std::string>{"X", "y", "Z"}));
  EXPECT_EQ(matched.data.statics, (std::vector<std::string>{"Age", "weight"}));
  EXPECT_EQ(matched.data.value, full().value);
  EXPECT_EQ(matched.notes,
            (std::vector<std::string>{
                "taken as the model's in spite of their case: 'x' as 'X', 'z' as 'Z'",
                "taken as the model's in spite of their case: 'age' as 'Age'"}));
  // Two could be meant, or the model has both.
  Dataset twice = full();
  twice.features = {"HR", "y", "hR"};
  EXPECT_EQ(match_columns(twice, {"hr", "y"}, twice.statics).notes[0],
            "ignored, as the model does not know them: 'HR', 'hR'");
  twice.features = {"HR", "y", "z"};
  EXPECT_EQ(match_columns(twice, {"hr", "HR", "y"}, twice.statics).notes[1],
            "never observed, as the data do not have them: 'hr'");
}

TEST(MatchColumns, NothingInCommonIsAnErrorThatNamesBoth) {
  try {
    match_columns(full(), {"pulse"}, {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'pulse'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("'x', 'y', 'z'"), std::string::npos);
  }
}

TEST(MatchColumns, WhatFitsAlreadyStaysAsItIs) {
  const Dataset d = full();
  const MatchedData matched = match_columns(d, d.features, d.statics);
  EXPECT_EQ(fingerprint(matched.data), fingerprint(d));
  EXPECT_TRUE(matched.notes.empty());
}

// A value must follow its name, also where an event holds several.
TEST(MatchColumns, ValuesFollowTheirNamesAndStandInTheNewOrder) {
  const MatchedData matched = match_columns(full(), {"z", "y", "x"}, {"weight", "age"});
  matched.data.check();
  const auto first = matched.data.observed(0);  // x = 1, z = 3
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].feature, 0);
  EXPECT_EQ(first[0].value, 3.0);
  EXPECT_EQ(first[1].feature, 2);
  EXPECT_EQ(first[1].value, 1.0);
  EXPECT_EQ(matched.data.covariates(0)[0], 60.0);
  EXPECT_EQ(matched.data.covariates(0)[1], 20.0);
  EXPECT_TRUE(std::isnan(matched.data.covariates(1)[0]));
}

TEST(MatchColumns, IdsLabelsAndGroupsAreNotTouched) {
  const Dataset d = full();
  const MatchedData matched = match_columns(d, {"x"}, {});
  EXPECT_EQ(matched.data.ids, d.ids);
  EXPECT_EQ(matched.data.labels, d.labels);
  EXPECT_EQ(matched.data.group_of, d.group_of);
  EXPECT_EQ(matched.data.classes, d.classes);
  EXPECT_EQ(matched.data.static_values.size(), 0u);
}

// A series of which the model knows nothing is still asked about: it is one without events.
TEST(MatchColumns, ASeriesThatLosesEveryEventStays) {
  const MatchedData matched =
      match_columns(read_csv_text("id,time,x,y\na,0,1,\na,1,2,\nb,5,,7\n", "f"), {"y"}, {});
  matched.data.check();
  EXPECT_EQ(matched.data.ids, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(matched.data.events(0), 0u);
  EXPECT_EQ(matched.data.events(1), 1u);
}

TEST(MatchColumns, ANoteNamesADozenAndCountsTheRest) {
  Dataset wide;
  for (int j = 0; j < 30; ++j) wide.features.push_back("f" + std::to_string(j));
  const MatchedData matched = match_columns(wide, {"f0"}, {});
  ASSERT_EQ(matched.notes.size(), 1u);
  const std::string& note = matched.notes[0];
  EXPECT_TRUE(
      note.ends_with("'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8', 'f9', 'f10', 'f11', "
                     "'f12' and 17 more"))
      << note;
}

// A name may hold what a format would take for a place to fill in.
TEST(MatchColumns, NamesWithBracesAreNames) {
  const MatchedData matched = match_columns(full(), {"x", "{}{0}"}, {});
  EXPECT_EQ(matched.notes.at(1), "never observed, as the data do not have them: '{}{0}'");
}

}  // namespace
}  // namespace edict
