// Rows in memory become the dataset that the same rows in a file become.
#include "data/read/dataset_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/generator.h"
#include "data/fingerprint.h"
#include "data/read/csv/csv.h"

namespace edict {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Duplicates = DatasetBuilder::Duplicates;

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(DatasetBuilder, RowsInAnyOrderAreTheDatasetOfTheFile) {
  const Dataset file = read_csv_text(
      "id,time,a,b,static:age,label,group\n"
      "p,2,1.5,3.5,60,10,east\n"
      "q,0,,7,,9,\n"
      "p,1,,2,60,10,east\n"
      "empty,,,,50,,west\n",
      "rows");
  DatasetBuilder builder({"p", "q", "empty"}, {"a", "b"});
  builder.set_statics({"age"}, {60, kNan, 50});
  builder.set_labels({"10", "9"}, {0, 1, -1});
  builder.set_groups({"west", "east"}, {1, -1, 0});
  const std::int64_t series[] = {0, 1, 0, 2, 0};
  const double times[] = {2, 0, 1, kNan, 2};
  const double a[] = {1.5, kNan, kNan, kNan, kNan}, b[] = {kNan, 7, 2, kNan, 3.5};
  const DatasetBuilder::Column columns[] = {{a}, {b}};
  builder.add_rows(series, times, columns);
  const Dataset built = std::move(builder).build();
  EXPECT_EQ(built.classes, (std::vector<std::string>{"9", "10"}));
  EXPECT_EQ(built.groups, (std::vector<std::string>{"east", "west"}));
  EXPECT_EQ(fingerprint(built), fingerprint(file));
}

TEST(DatasetBuilder, LongAndWideFormAreTheSame) {
  Generator rng(1, "rows");
  std::vector<std::int64_t> series, long_series;
  std::vector<double> times, long_times, values, long_values;
  std::vector<std::int32_t> long_features;
  for (int r = 0; r < 500; ++r) {
    series.push_back(static_cast<std::int64_t>(rng.below(7)));
    times.push_back(static_cast<double>(r) * (rng.uniform() < 0.5 ? 1 : -1));
    for (std::int32_t j = 0; j < 3; ++j) {
      values.push_back(rng.uniform() < 0.5 ? kNan : rng.normal());
      if (std::isnan(values.back())) continue;
      long_series.push_back(series.back());
      long_times.push_back(times.back());
      long_features.push_back(j);
      long_values.push_back(values.back());
    }
  }
  const std::vector<std::string> ids = {"a", "b", "c", "d", "e", "f", "g"}, names = {"x", "y", "z"};
  DatasetBuilder wide(ids, names), narrow(ids, names);
  // Columns of a matrix that is stored row by row.
  const DatasetBuilder::Column columns[] = {
      {values.data(), 3}, {values.data() + 1, 3}, {values.data() + 2, 3}};
  wide.add_rows(series, times, columns);
  // Backwards, so that everything has to be sorted.
  for (auto* list : {&long_times, &long_values}) std::reverse(list->begin(), list->end());
  std::reverse(long_series.begin(), long_series.end());
  std::reverse(long_features.begin(), long_features.end());
  narrow.add_observations(long_series, long_times, long_features, long_values);
  EXPECT_EQ(fingerprint(std::move(wide).build()), fingerprint(std::move(narrow).build()));
}

Dataset twice(double first, double second, Duplicates duplicates) {
  DatasetBuilder builder({"p"}, {"a", "b"});
  const std::int64_t series[] = {0, 0};
  const double times[] = {1, 1}, a[] = {first, second}, b[] = {4, kNan};
  const DatasetBuilder::Column columns[] = {{a}, {b}};
  builder.add_rows(series, times, columns);
  return std::move(builder).build(duplicates);
}

TEST(DatasetBuilder, DifferentValuesAtOneTimeAreRefusedOrChosenFrom) {
  EXPECT_EQ(error_of([] { twice(2, 5, Duplicates::refuse); }),
            "dataset: series p, time 1: 'a' is 2 and 5; correct them, or give duplicates=mean, "
            "first or last");
  EXPECT_EQ(twice(2, 5, Duplicates::first).value, (std::vector<double>{2, 4}));
  EXPECT_EQ(twice(2, 5, Duplicates::last).value, (std::vector<double>{5, 4}));
  EXPECT_EQ(twice(2, 5, Duplicates::mean).value, (std::vector<double>{3.5, 4}));
  EXPECT_EQ(twice(2, 2, Duplicates::refuse).value, (std::vector<double>{2, 4}));
}

TEST(DatasetBuilder, WhatCannotBeIsRefusedByName) {
  const auto add = [](std::int64_t of, double time, double value) {
    DatasetBuilder builder({"p"}, {"a"});
    const DatasetBuilder::Column column{&value};
    builder.add_rows({&of, 1}, {&time, 1}, {&column, 1});
    return std::move(builder).build();
  };
  EXPECT_EQ(error_of([&] { add(1, 0, 1); }), "dataset: a row of series 1; 1 are named");
  EXPECT_EQ(error_of([&] { add(0, kNan, 1); }),
            "dataset: series p: a time is missing or infinite; give every row with a value one");
  EXPECT_EQ(error_of([&] { add(0, 0, std::numeric_limits<double>::infinity()); }),
            "dataset: series p, time 0: the value of 'a' is not finite");
  EXPECT_EQ(error_of([] {
              DatasetBuilder({"p", "p"}, {"a"});
            }),
            "dataset: series 'p' is there twice; give each its own name");
  EXPECT_EQ(error_of([] { DatasetBuilder({"p"}, {"a"}).set_labels({"x"}, {1}); }),
            "dataset: there is no label 1; 1 are named");
}

}  // namespace
}  // namespace edict
