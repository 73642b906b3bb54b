// Timelines read from their end: between a timeline and its reverse every absorbed observation
// counts once for a query, and what is hidden counts for neither.
#include "protocol/reversed.h"

#include <gtest/gtest.h>

#include <set>

#include "base/generator.h"

namespace edict {
namespace {

using A = Timeline<float>;

// Stops at multiples of a quarter, which are exact, several of them at the same moment; every value
// stands there once.
A random_timeline(std::uint64_t seed) {
  Generator rng(seed, "reversed");
  A timeline;
  timeline.id = "s";
  timeline.covariates = {1.5f};
  double time = 0;
  float value = 1;
  for (int s = 0; s < 30; ++s) {
    time += 0.25 * static_cast<double>(rng.below(3));
    const std::uint8_t what[] = {A::kAbsorb, A::kQuery, A::kScore | A::kQuery,
                                 A::kAbsorb | A::kScore};
    timeline.stop(time, what[rng.below(4)]);
    for (std::uint64_t k = 0, count = rng.below(4); k < count; ++k)
      timeline.observe(static_cast<std::int32_t>(k), value++);
  }
  return timeline;
}

// What is absorbed before each query, in order.
std::vector<std::set<float>> known_at_queries(const A& timeline) {
  std::vector<std::set<float>> known;
  std::set<float> absorbed;
  for (const A::Stop& stop : timeline.stops) {
    if (stop.what & A::kQuery) known.push_back(absorbed);
    if (stop.what & A::kAbsorb)
      absorbed.insert(timeline.value.begin() + stop.first,
                      timeline.value.begin() + stop.first + stop.count);
  }
  return known;
}

void expect_same(const A& a, const A& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.covariates, b.covariates);
  ASSERT_EQ(a.stops.size(), b.stops.size());
  for (std::size_t s = 0; s < a.stops.size(); ++s) {
    EXPECT_EQ(a.stops[s].time, b.stops[s].time);
    EXPECT_EQ(a.stops[s].what, b.stops[s].what);
    ASSERT_EQ(a.stops[s].count, b.stops[s].count);
    for (std::uint32_t k = 0; k < a.stops[s].count; ++k) {
      EXPECT_EQ(a.feature[a.stops[s].first + k], b.feature[b.stops[s].first + k]);
      EXPECT_EQ(a.value[a.stops[s].first + k], b.value[b.stops[s].first + k]);
    }
  }
}

TEST(Reversed, RunsFromTheLastAbsorbedStopBackwards) {
  A timeline;
  timeline.start = 1.0;
  timeline.stop(2.0, A::kAbsorb);
  timeline.observe(0, 1.0f);
  timeline.stop(3.0, A::kQuery);
  timeline.stop(5.0, A::kAbsorb | A::kScore);
  timeline.observe(1, 2.0f);
  timeline.stop(9.0, A::kQuery);
  const A back = reversed(timeline);
  EXPECT_EQ(back.start, 0.0);
  ASSERT_EQ(back.stops.size(), 3u) << "a forecast has nothing after it";
  EXPECT_EQ(back.stops[0].time, 0.0);
  EXPECT_EQ(back.stops[0].what, A::kAbsorb | A::kScore);
  EXPECT_EQ(back.stops[1].time, 2.0);
  EXPECT_EQ(back.stops[2].time, 3.0);
  EXPECT_EQ(back.value, (std::vector<float>{2.0f, 1.0f}));
}

TEST(Reversed, TwiceIsTheTimelineFromItsFirstToItsLastAbsorbedStop) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const A once = reversed(random_timeline(seed));
    const A twice = reversed(once);
    expect_same(reversed(reversed(twice)), twice);
    // Where the first stop is absorbed nothing is left out on the way back.
    if (once.stops.back().what & A::kAbsorb) expect_same(reversed(twice), once);
  }
}

TEST(Reversed, EveryAbsorbedObservationCountsOnceForAQuery) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const A timeline = random_timeline(seed), back = reversed(timeline);
    std::set<float> all;
    for (const A::Stop& stop : timeline.stops)
      if (stop.what & A::kAbsorb)
        all.insert(timeline.value.begin() + stop.first,
                   timeline.value.begin() + stop.first + stop.count);
    const auto past = known_at_queries(timeline), future = known_at_queries(back);
    ASSERT_LE(future.size(), past.size());
    for (std::size_t q = 0; q < past.size(); ++q) {
      std::set<float> both = past[q];
      if (q < future.size()) {
        for (const float value : future[future.size() - 1 - q])
          EXPECT_TRUE(both.insert(value).second) << "counted from both sides: " << value;
      }
      EXPECT_EQ(both, all) << "query " << q << " of seed " << seed;
    }
  }
}

TEST(Reversed, WithoutAnythingAbsorbedThereIsNothingToReadFrom) {
  A timeline;
  timeline.stop(1.0, A::kQuery);
  EXPECT_TRUE(reversed(timeline).stops.empty());
}

// As few validation series are followed: each moment is judged by all others.
TEST(Reversed, WhatAsksAndAbsorbsAtOnceIsInNeitherAnswer) {
  A timeline;
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    timeline.stop(value, A::kAbsorb | A::kScore | A::kQuery);
    timeline.observe(0, value);
  }
  const A back = reversed(timeline);
  EXPECT_EQ(back.value, (std::vector<float>{3.0f, 2.0f, 1.0f}));
  EXPECT_EQ(back.stops[0].what, A::kAbsorb | A::kScore) << "nothing lies behind the last";
  EXPECT_EQ(back.stops[2].time, 2.0);
  const auto past = known_at_queries(timeline), future = known_at_queries(back);
  EXPECT_EQ(past, (std::vector<std::set<float>>{{}, {1.0f}, {1.0f, 2.0f}}));
  EXPECT_EQ(future, (std::vector<std::set<float>>{{3.0f}, {3.0f, 2.0f}}));
}

}  // namespace
}  // namespace edict
