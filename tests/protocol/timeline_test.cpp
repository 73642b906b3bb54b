// What reaches a model: hidden and later values never do. Every observation of the random datasets
// below has a value of its own, so that it can be recognised in what a timeline absorbs.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/generator.h"
#include "protocol/filtering_timeline.h"
#include "protocol/holdout.h"
#include "protocol/protocol.h"

namespace edict {
namespace {

using A = Timeline<float>;

struct Case {
  Dataset data;
  DataSettings settings;
  Split parts;
  Protocol protocol;
  Holdout holdout;
  // Of one series.
  std::span<const std::uint8_t> held_out(std::size_t i) const {
    const std::size_t from = data.first_observation[data.first_event[i]];
    return std::span(holdout).subspan(from, data.first_observation[data.first_event[i + 1]] - from);
  }
};

// Series with none to twelve events of one to four features, groups, and covariates; values are
// distinct whole numbers, which single precision holds exactly in raw units.
Case random_case(std::uint64_t seed) {
  Generator rng(seed, "timeline test");
  Case c;
  Dataset& d = c.data;
  d.features = {"a", "b", "c", "d"};
  d.statics = {"age"};
  for (int g = 0; g < 8; ++g) d.groups.push_back(fmt::format("g{}", g));
  double next = 1;
  for (int i = 0; i < 40; ++i) {
    const double age = rng.below(4) == 0 ? std::nan("") : rng.uniform(20, 80);
    d.add_series(fmt::format("s{}", i), Dataset::kNone, static_cast<std::int32_t>(i % 9) - 1,
                 std::span(&age, 1));
    double time = seed % 2 == 0 ? 0 : -5;
    for (std::uint64_t e = 0, events = rng.below(13); e < events; ++e) {
      d.add_event(time += rng.uniform(0.01, 2));
      const auto sure = static_cast<std::int32_t>(rng.below(4));
      for (std::int32_t f = 0; f < 4; ++f)
        if (f == sure || rng.uniform() < 0.4) d.add_observation(f, next++);
    }
  }
  c.settings.seed = static_cast<std::int64_t>(seed);
  c.settings.standardise = false;
  c.settings.split = seed % 3 == 0 ? SplitBy::group : SplitBy::series;
  c.settings.time_unit = 2.0;
  c.settings.t_cut = 4.0;
  c.parts = split(d, c.settings);
  c.protocol = fit_protocol(c.settings, d, c.parts);
  for (std::size_t i = 0; i < d.size(); ++i) {
    const Holdout own = draw_holdout(d, i, c.protocol.cut_of(d, i), 0.3, seed);
    c.holdout.insert(c.holdout.end(), own.begin(), own.end());
  }
  return c;
}

struct Entered {
  double time;
  float value;
  std::int32_t feature;
};

// Everything that stops of this kind hold, by value.
std::map<float, Entered> held_by(const A& timeline, std::uint8_t what) {
  std::map<float, Entered> found;
  for (const A::Stop& stop : timeline.stops)
    if ((stop.what & what) == what)
      for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k) {
        EXPECT_TRUE(found
                        .emplace(timeline.value[k],
                                 Entered{stop.time, timeline.value[k], timeline.feature[k]})
                        .second)
            << "an observation twice";
      }
  return found;
}

void expect_ascending(const A& timeline) {
  double last = timeline.start;
  for (const A::Stop& stop : timeline.stops) {
    EXPECT_GE(stop.time, last) << timeline.id;
    last = stop.time;
    for (std::uint32_t k = stop.first + 1; k < stop.first + stop.count; ++k)
      EXPECT_LT(timeline.feature[k - 1], timeline.feature[k]);
  }
}

// Calls visit(time, observation index, observation) for the series.
template <class Visit>
void each(const Dataset& d, std::size_t series, Visit visit) {
  for (std::size_t e = d.first_event[series]; e < d.first_event[series + 1]; ++e)
    for (std::size_t o = d.first_observation[e]; o < d.first_observation[e + 1]; ++o)
      visit(d.times[e], o, Observation{d.feature[o], d.value[o]});
}

class TimelineTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(TimelineTest, TrainingAbsorbsAndScoresExactlyWhatIsBeforeTheCut) {
  const Case c = random_case(GetParam());
  for (std::size_t i = 0; i < c.data.size(); ++i) {
    const A timeline = training_timeline(c.protocol, c.data, i);
    expect_ascending(timeline);
    const auto absorbed = held_by(timeline, A::kAbsorb | A::kScore);
    EXPECT_EQ(absorbed.size(), timeline.value.size());
    std::size_t before = 0;
    each(c.data, i, [&](double time, std::size_t, const Observation& o) {
      const auto found = absorbed.find(static_cast<float>(o.value));
      EXPECT_EQ(found != absorbed.end(), time < c.protocol.cut_of(c.data, i));
      if (found == absorbed.end()) return;
      ++before;
      EXPECT_EQ(found->second.time, time / 2.0);
      EXPECT_EQ(found->second.feature, o.feature);
    });
    EXPECT_EQ(before, absorbed.size());
  }
}

TEST_P(TimelineTest, TrainingOnWholeSeriesLeavesNothingOut) {
  const Case c = random_case(GetParam());
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < c.data.size(); ++i) {
    const A timeline = training_timeline(c.protocol, c.data, i, true);
    expect_ascending(timeline);
    const auto absorbed = held_by(timeline, A::kAbsorb | A::kScore);
    each(c.data, i, [&](double time, std::size_t, const Observation& o) {
      EXPECT_TRUE(absorbed.contains(static_cast<float>(o.value)));
      beyond += time >= c.protocol.cut_of(c.data, i);
    });
  }
  EXPECT_GT(beyond, 0u);
}

TEST(Gaps, AreThoseOfTheTrainingSeriesInTheModelsUnit) {
  Dataset d;
  d.features = {"a"};
  const auto add = [&](const std::vector<double>& times) {
    d.add_series(fmt::format("s{}", d.size()));
    for (const double time : times) {
      d.add_event(time);
      d.add_observation(0, 1.0);
    }
  };
  add({1, 2, 4, 8});
  add({0, 100, 1000});
  add({});
  add({3});
  Protocol protocol;
  protocol.time_unit = 2.0;
  const std::vector<std::size_t> train{0, 2, 3};
  EXPECT_EQ(gaps(protocol, d, train).median, 1.0);          // of 1, 2 and 4
  EXPECT_EQ(gaps(protocol, d, train).longest_series, 4.0);  // clocks start at 0
  protocol.start = ClockStart::first;
  EXPECT_EQ(gaps(protocol, d, train).longest_series, 3.5);
  EXPECT_EQ(gaps(protocol, d, std::vector<std::size_t>{2, 3}).median, 0.0);
  // A gap is one wherever the clock starts.
  protocol.start = ClockStart::zero;
  protocol.origin = 0.5;
  EXPECT_EQ(gaps(protocol, d, train).median, 1.0);
  EXPECT_EQ(gaps(protocol, d, train).longest_series, 3.75);
}

TEST_P(TimelineTest, EvaluationNeverAbsorbsWhatItJudges) {
  const Case c = random_case(GetParam());
  std::size_t hidden = 0, later = 0;
  for (std::size_t i = 0; i < c.data.size(); ++i) {
    const A timeline = evaluation_timeline(c.protocol, c.data, i, c.held_out(i));
    expect_ascending(timeline);
    const auto absorbed = held_by(timeline, A::kAbsorb), judged = held_by(timeline, A::kQuery);
    EXPECT_EQ(absorbed.size() + judged.size(), timeline.value.size());
    each(c.data, i, [&](double time, std::size_t o, const Observation& seen) {
      const bool beyond = time >= c.protocol.cut_of(c.data, i);
      hidden += c.holdout[o];
      later += beyond;
      const auto x = static_cast<float>(seen.value);
      EXPECT_EQ(judged.contains(x), beyond || c.holdout[o]);
      EXPECT_EQ(absorbed.contains(x), !beyond && !c.holdout[o]);
    });
    // Of one moment, what is judged is asked before the rest enters.
    for (std::size_t s = 1; s < timeline.stops.size(); ++s)
      if (timeline.stops[s].time == timeline.stops[s - 1].time) {
        EXPECT_TRUE(timeline.stops[s - 1].what & A::kQuery);
      }
  }
  EXPECT_GT(hidden, 0u);
  EXPECT_GT(later, 0u);
}

// The stronger form: whatever the hidden and later values are, what is absorbed is the same.
TEST_P(TimelineTest, WhatIsAbsorbedDoesNotDependOnHiddenOrLaterValues) {
  const Case c = random_case(GetParam());
  Dataset changed = c.data;
  for (std::size_t i = 0; i < c.data.size(); ++i)
    each(c.data, i, [&](double time, std::size_t o, const Observation&) {
      if (time >= c.protocol.cut_of(c.data, i) || c.holdout[o]) changed.value[o] = -1e6;
    });
  for (std::size_t i = 0; i < c.data.size(); ++i) {
    const A before = evaluation_timeline(c.protocol, c.data, i, c.held_out(i));
    const A after = evaluation_timeline(c.protocol, changed, i, c.held_out(i));
    ASSERT_EQ(before.stops.size(), after.stops.size());
    for (std::size_t s = 0; s < before.stops.size(); ++s) {
      const A::Stop& stop = before.stops[s];
      EXPECT_EQ(stop.time, after.stops[s].time);
      EXPECT_EQ(stop.what, after.stops[s].what);
      if (!(stop.what & A::kAbsorb)) continue;
      for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
        EXPECT_EQ(before.value[k], after.value[k]);
    }
  }
}

TEST_P(TimelineTest, EncodingAbsorbsEverythingAndAsksAtTheEndWithoutAnObservation) {
  const Case c = random_case(GetParam());
  for (std::size_t i = 0; i < c.data.size(); ++i)
    for (const bool scored : {false, true}) {
      const A timeline = encoding_timeline(c.protocol, c.data, i, scored);
      expect_ascending(timeline);
      std::size_t all = 0;
      const auto absorbed = held_by(timeline, A::kAbsorb);
      each(c.data, i, [&](double, std::size_t, const Observation& o) {
        ++all;
        EXPECT_TRUE(absorbed.contains(static_cast<float>(o.value)));
      });
      EXPECT_EQ(absorbed.size(), all);
      EXPECT_EQ(held_by(timeline, A::kScore).size(), scored ? all : 0);
      const A::Stop& end = timeline.stops.back();
      EXPECT_EQ(end.what, A::kQuery);
      EXPECT_EQ(end.count, 0u);
    }
}

// A query at t comes before what is observed at t or later, and holds no observation itself.
TEST_P(TimelineTest, AQueryKnowsOnlyWhatCameBeforeIt) {
  const Case c = random_case(GetParam());
  Generator rng(GetParam(), "queries");
  for (std::size_t i = 0; i < c.data.size(); ++i) {
    std::vector<double> times;
    for (int k = 0; k < 6; ++k) times.push_back(rng.uniform(c.protocol.from_first() ? -6 : 0, 20));
    for (std::size_t e = c.data.first_event[i]; e < c.data.first_event[i + 1]; ++e)
      times.push_back(c.data.times[e]);  // also just where something is observed
    std::sort(times.begin(), times.end());
    const A timeline = query_timeline(c.protocol, c.data, i, times);
    expect_ascending(timeline);
    std::size_t queries = 0, absorbed = 0;
    for (const A::Stop& stop : timeline.stops) {
      if (stop.what & A::kQuery) {
        EXPECT_EQ(stop.count, 0u);
        std::size_t earlier = 0;
        each(c.data, i, [&](double time, std::size_t, const Observation&) {
          earlier += time < times[queries];
        });
        EXPECT_EQ(absorbed, earlier) << "at " << times[queries];
        ++queries;
      } else {
        absorbed += stop.count;
      }
    }
    EXPECT_EQ(queries, times.size());
  }
}

TEST_P(TimelineTest, AFilteringQueryKnowsItsOwnMomentToo) {
  const Case c = random_case(GetParam());
  for (std::size_t i = 0; i < c.data.size(); ++i) {
    const std::vector<double> times(
        c.data.times.begin() + static_cast<std::ptrdiff_t>(c.data.first_event[i]),
        c.data.times.begin() + static_cast<std::ptrdiff_t>(c.data.first_event[i + 1]));
    const A filtering = filtering_timeline(c.protocol, c.data, i, times);
    const A before = query_timeline(c.protocol, c.data, i, times);
    ASSERT_EQ(filtering.stops.size(), 2 * times.size());
    for (std::size_t t = 0; t < times.size(); ++t) {
      EXPECT_EQ(filtering.stops[2 * t].what, A::kAbsorb);
      EXPECT_EQ(filtering.stops[2 * t + 1].what, A::kQuery);
      EXPECT_EQ(filtering.stops[2 * t].time, filtering.stops[2 * t + 1].time);
      EXPECT_EQ(before.stops[2 * t].what, A::kQuery) << "the other way round";
    }
    EXPECT_EQ(filtering.value, before.value);
  }
}

// Neither other series nor what lies after the cut shift the units of a model.
TEST_P(TimelineTest, UnitsComeFromTheTrainingSeriesBeforeTheCut) {
  Case c = random_case(GetParam());
  Dataset changed = c.data;
  const std::set<std::size_t> train(c.parts.train.begin(), c.parts.train.end());
  ASSERT_LT(train.size(), c.data.size());
  for (std::size_t i = 0; i < c.data.size(); ++i) {
    each(c.data, i, [&](double time, std::size_t o, const Observation&) {
      if (!train.contains(i) || time >= c.protocol.cut_of(c.data, i)) changed.value[o] = 1e9;
    });
    if (!train.contains(i)) changed.static_values[i] = 1e9;
  }
  c.settings.standardise = true;
  const Protocol before = fit_protocol(c.settings, c.data, c.parts);
  const Protocol after = fit_protocol(c.settings, changed, c.parts);
  EXPECT_EQ(before.standardisation.mean, after.standardisation.mean);
  EXPECT_EQ(before.standardisation.scale, after.standardisation.scale);
  EXPECT_EQ(before.standardisation.statics_mean, after.standardisation.statics_mean);
  EXPECT_EQ(before.standardisation.statics_scale, after.standardisation.statics_scale);
  EXPECT_EQ(before.horizon, after.horizon);
  // And they do come from there: changing one of those values moves them.
  bool moved = false;
  for (std::size_t i = 0; i < c.data.size() && !moved; ++i)
    each(c.data, i, [&](double time, std::size_t o, const Observation&) {
      if (moved || !train.contains(i) || time >= c.protocol.cut_of(c.data, i)) return;
      changed.value[o] = 1e9;
      moved = true;
    });
  const Protocol third = fit_protocol(c.settings, changed, c.parts);
  EXPECT_NE(third.standardisation.mean, before.standardisation.mean);
}

INSTANTIATE_TEST_SUITE_P(Random, TimelineTest, testing::Range(std::uint64_t{0}, std::uint64_t{6}));

// A cut at 0 is a cut: 0 does not stand for "choose one".
TEST(Protocol, ACutAtZeroIsOne) {
  Dataset d;
  d.features = {"x"};
  for (int i = 0; i < 4; ++i) {
    d.add_series(std::to_string(i));
    for (int t = -10; t <= 10; ++t) {
      d.add_event(t);
      d.add_observation(0, t);
    }
  }
  DataSettings settings;
  settings.t_cut = 0.0;
  settings.start = ClockStart::origin;
  const Protocol protocol = fit_protocol(settings, d, {{0, 1}, {2}, {3}});
  EXPECT_EQ(protocol.t_cut, 0.0);
  EXPECT_EQ(training_timeline(protocol, d, 0).stops.size(), 10u);
  settings.t_cut.reset();
  EXPECT_EQ(fit_protocol(settings, d, {{0, 1}, {2}, {3}}).t_cut, 5.0);  // 3/4 of the range
}

// Unix time: the model counts from the first time of the training split, and a series that begins
// before it starts with its own first event instead of being refused.
TEST(Protocol, ClocksMayStartAtAnOrigin) {
  constexpr double kYear2023 = 1.7e9;
  Dataset d;
  d.features = {"x"};
  for (const double start : {0.0, 3600.0, -1800.0}) {
    d.add_series(fmt::format("from {}", start));
    for (int e = 0; e < 5; ++e) {
      d.add_event(kYear2023 + start + 3600 * e);
      d.add_observation(0, e);
    }
  }
  DataSettings settings;
  settings.start = ClockStart::origin;
  settings.time_unit = 3600;
  const Protocol protocol = fit_protocol(settings, d, {{0, 1}, {2}, {}});
  EXPECT_EQ(settings.origin, kYear2023);
  EXPECT_EQ(protocol.to_raw_time(protocol.to_model_time(kYear2023 + 7200)), kYear2023 + 7200);
  const A second = training_timeline(protocol, d, 1), earlier = training_timeline(protocol, d, 2);
  EXPECT_EQ(second.start, 0.0);
  EXPECT_EQ(second.stops.front().time, 1.0);
  EXPECT_EQ(earlier.start, -0.5);
  EXPECT_EQ(earlier.stops.front().time, -0.5);
  // What is asked before a clock starts is the start.
  EXPECT_EQ(query_timeline(protocol, d, 1, {kYear2023 - 60}).stops.front().time, 0.0);
  EXPECT_EQ(protocol.start_of(d, 2), kYear2023 - 1800);
  // A picture goes to the cut, unless that is never.
  EXPECT_EQ(protocol.end_of(d, 2), kYear2023 + 13500);
  Protocol uncut = protocol;
  uncut.t_cut = 1e30;
  EXPECT_EQ(uncut.end_of(d, 2), kYear2023 + 12600);
}

// A mask of the whole dataset would hide what another series drew.
TEST(EvaluationTimeline, RefusesAHoldoutThatIsNotOfTheSeries) {
  const Case c = random_case(0);
  EXPECT_THROW(evaluation_timeline(c.protocol, c.data, 1, c.holdout), Error);
  EXPECT_NO_THROW(evaluation_timeline(c.protocol, c.data, 1, c.held_out(1)));
}

}  // namespace
}  // namespace edict
