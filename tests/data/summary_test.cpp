#include "data/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/read/csv/csv.h"

namespace edict {
namespace {

TEST(Summary, CountsByHand) {
  const Summary s =
      summarise(read_csv_text("id,time,x,y,z,label,group,static:age,static:none\n"
                              "a,0,1,,,0,g,20,\n"
                              "a,1,3,4,,0,g,20,\n"
                              "a,4,,8,,0,g,20,\n"
                              "b,-1,5,,,1,h,,\n"
                              "b,9,7,,,1,h,,\n"
                              "c,,,,,,g,40,\n",
                              "f"));
  EXPECT_EQ(s.series, 3u);
  EXPECT_EQ(s.empty_series, 1u);
  EXPECT_EQ(s.events, 5u);
  EXPECT_EQ(s.observations, 6u);
  EXPECT_DOUBLE_EQ(s.events_per_series, 5.0 / 3.0);
  EXPECT_EQ(s.first_time, -1.0);
  EXPECT_EQ(s.last_time, 9.0);
  EXPECT_EQ(s.median_gap, 3.0);      // of 1, 3 and 10
  ASSERT_EQ(s.features.size(), 2u);  // an empty column is none
  EXPECT_EQ(s.features[0].count, 4u);
  EXPECT_DOUBLE_EQ(s.features[0].missing, 0.2);
  EXPECT_DOUBLE_EQ(s.features[0].mean, 4.0);
  EXPECT_DOUBLE_EQ(s.features[0].std, std::sqrt(5.0));
  EXPECT_EQ(s.features[0].min, 1.0);
  EXPECT_EQ(s.features[0].max, 7.0);
  EXPECT_DOUBLE_EQ(s.features[1].missing, 0.6);
  ASSERT_EQ(s.statics.size(), 2u);
  EXPECT_DOUBLE_EQ(s.statics[0].missing, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(s.statics[0].mean, 30.0);
  EXPECT_DOUBLE_EQ(s.statics[0].std, 10.0);
  EXPECT_EQ(s.statics[1].missing, 1.0);
  EXPECT_TRUE(std::isnan(s.statics[1].mean));
  EXPECT_EQ(s.class_counts, (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(s.unlabelled, 1u);
  EXPECT_EQ(s.group_counts, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(s.ungrouped, 0u);
}

TEST(Summary, TheMedianOfAnEvenNumberOfGapsIsBetweenTheMiddleTwo) {
  EXPECT_EQ(
      summarise(read_csv_text("id,time,x\na,0,1\na,1,1\na,3,1\na,8,1\na,9,1\n", "f")).median_gap,
      1.5);
}

TEST(Summary, WithoutEventsThereAreNoTimes) {
  const Summary s = summarise(read_csv_text("id,time,x\na,,\n", "f"));
  EXPECT_EQ(s.series, 1u);
  EXPECT_EQ(s.events_per_series, 0.0);
  EXPECT_TRUE(std::isnan(s.first_time) && std::isnan(s.last_time) && std::isnan(s.median_gap));
  EXPECT_EQ(summarise(Dataset{}).series, 0u);
}

}  // namespace
}  // namespace edict
