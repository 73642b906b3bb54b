// One decision about time: what lies in the future is refused, alarms are judged at now, what was
// received long ago is forgotten, and what should never have come can be removed.
#include <algorithm>
#include <cmath>
#include <future>

#include "base/error.h"
#include "base/json/json.h"
#include "nn/parameters.h"
#include "server/live_folder.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

constexpr double kEpoch = 1.7e9;  // seconds since 1970

// The small model on dates in hours; of another seed it is another one.
std::shared_ptr<Model> dated(std::int64_t seed, std::vector<std::string> features) {
  Config config;
  config.model.hidden = 6;
  config.model.head_hidden = 4;
  config.model.encoder_width = 3;
  config.model.step = 0.5;
  config.train.seed = seed;
  Dataset data = waves();
  data.features = std::move(features);
  data.time_axis.kind = TimeKind::unix_seconds;
  data.time_axis.unit = TimeUnit::hour;
  data.time_axis.epoch = kEpoch * 1e6;
  return std::make_shared<Model>(Model::create(config, data, split(data, 0)));
}

std::shared_ptr<const Model> dated_model() {
  static const std::shared_ptr<const Model> model = dated(0, waves().features);
  return model;
}

// One in which a value of 1e300 overflows.
std::shared_ptr<const Model> fragile_model() {
  static const auto model = [] {
    Config config;
    config.model.hidden = 6;
    config.model.head_hidden = 4;
    config.model.step = 0.5;
    auto own = std::make_shared<Model>(Model::create(config, waves(), split(waves(), 0)));
    for (const Tensor& tensor : own->network->layout().tensors())
      if (tensor.name.find("encoder") != std::string::npos)
        for (Index i = tensor.offset; i < tensor.offset + tensor.size; ++i)
          own->first().params[i] *= 1e12f;
    return own;
  }();
  return model;
}

TimeStamp at_hour(double hours) { return {(kEpoch + 3600 * hours) * 1e6, true}; }

class TimeTest : public LiveTest {
 protected:
  std::unique_ptr<Live> open_dated(LiveSettings settings = {}, std::vector<Rule> rules = {}) {
    settings.shards = 2;
    settings.clock = [this] { return now_.load(); };
    std::vector<std::string> notices;
    return std::make_unique<Live>(dated_model(), settings, open_store(store(), {}, notices),
                                  std::move(rules));
  }
  std::vector<Alarm> alarms_of(Live& live, const std::string& name) {
    std::promise<std::vector<Alarm>> promise;
    live.on_stream(name, [&](Live::Access, LiveStream* stream) {
      promise.set_value(stream ? stream->alarms : std::vector<Alarm>());
    });
    return promise.get_future().get();
  }
  std::vector<KeptValue> values_of(Live& live, const std::string& name) {
    std::promise<std::vector<KeptValue>> promise;
    live.on_stream(name, [&](Live::Access access, LiveStream* stream) {
      promise.set_value(access.store.values(stream->id, -kInfinity, kInfinity, 100000));
    });
    return promise.get_future().get();
  }
  std::size_t rejected(Live& live) {
    std::promise<std::size_t> promise;
    live.aside([&](Live::Access access) { promise.set_value(access.store.rejected(100).size()); });
    return promise.get_future().get();
  }
  std::pair<std::optional<std::size_t>, std::string> erase(
      Live& live, const std::string& name, double from, double to,
      std::vector<std::int32_t> features = {}) {
    std::promise<std::pair<std::optional<std::size_t>, std::string>> promise;
    live.erase(name, from, to, std::move(features), "anna", [&](const Result<std::size_t>& count) {
      using Kind = Failure::Kind;
      if (count)
        promise.set_value({count.value(), ""});
      else if (count.failure().kind == Kind::not_found)
        promise.set_value({});
      else
        promise.set_value({{}, count.failure().text});
    });
    return promise.get_future().get();
  }

  std::atomic<double> now_{kEpoch + 10 * 3600};
};

TEST_F(TimeTest, WhatLiesInTheFutureIsRefusedAndKeptAside) {
  const auto live = open_dated();
  EXPECT_EQ(live->submit_and_wait({{"bed", at_hour(9), 0, 1.0}}).stored, 1u);
  EXPECT_EQ(live->submit_and_wait({{"bed", at_hour(10 + 4.0 / 60), 0, 1.0}}).stored, 1u);
  const Outcome tomorrow = live->submit_and_wait({{"bed", at_hour(34), 0, 1.0}});
  EXPECT_EQ(tomorrow.kind, Outcome::Kind::invalid);
  EXPECT_NE(tomorrow.detail.find("24 h after its arrival"), std::string::npos) << tomorrow.detail;
  const Outcome thousandfold =
      live->submit_and_wait({{"bed", {(kEpoch + 36000) * 1e9, true}, 0, 1.0}});
  EXPECT_NE(thousandfold.detail.find("milliseconds"), std::string::npos) << thousandfold.detail;
  // The others of a request are taken, where it may be taken in part.
  const Outcome part = live->submit_and_wait(
      {{"bed", at_hour(9.5), 0, 1.0}, {"bed", at_hour(99), 0, 1.0}}, Acceptance::partial);
  EXPECT_EQ(part.kind, Outcome::Kind::stored);
  EXPECT_EQ(part.stored, 1u);
  EXPECT_EQ(part.refused.count, 1u);
  EXPECT_EQ(rejected(*live), 3u);
  EXPECT_EQ(values_of(*live, "bed").size(), 3u);
}

// Numbers have no now; dates on a clock of numbers do.
TEST_F(TimeTest, PlainNumbersHaveNoFuture) {
  const auto live = open({.time_unit = "h", .clock = [this] { return now_.load(); }});
  EXPECT_EQ(live->submit_and_wait({{"plain", {1e6, false}, 0, 1.0}}).stored, 1u);
  EXPECT_EQ(live->submit_and_wait({{"dated", at_hour(9), 0, 1.0}}).stored, 1u);
  EXPECT_EQ(live->submit_and_wait({{"dated", at_hour(34), 0, 1.0}}).kind, Outcome::Kind::invalid);
  EXPECT_EQ(live->submit_and_wait({{"dated", {0.5, false}, 0, 1.0}}).stored, 1u);
  EXPECT_EQ(live->submit_and_wait({{"dated", {25, false}, 0, 1.0}}).kind, Outcome::Kind::invalid);
}

// A rule asks what is expected from now on: as if the last value had come just now, it would say
// the same for ever.
TEST_F(TimeTest, AlarmsAreJudgedAtNow) {
  Rule rule;
  rule.name = "any";
  rule.kind = Rule::Kind::crosses;
  rule.feature = 0;
  rule.above = -1000;
  rule.within = 1;
  rule.probability = 0.5;
  const auto live = open_dated({.alarm_interval = 0}, {rule});
  const auto probability = [&](double limit) {
    Rule own = rule;
    own.above = limit;
    own.probability = 1e-9;
    std::promise<void> set;
    live->set_rules({own}, "", [&](const auto&) { set.set_value(); });
    set.get_future().get();
    double found = -1;
    holds([&] {
      const auto alarms = alarms_of(*live, "bed");
      for (const Alarm& alarm : alarms)
        if (alarm.text.find("> 0.25 ") != std::string::npos) found = alarm.probability;
      return found >= 0;
    });
    return found;
  };
  live->submit_and_wait({{"bed", at_hour(9), 0, 1.0}});
  // The largest of 16 moments from ten o'clock on.
  std::vector<double> times;
  for (int k = 1; k <= kCrossingPoints; ++k) times.push_back(10.0 + k / 16.0);
  std::promise<double> expected;
  live->on_stream("bed", [&](Live::Access access, LiveStream* stream) {
    double most = 0;
    for (const double time : times) {
      const StreamEngine::Question question{&stream->state, time};
      most = std::max(most, probability_above(access.engine.distribution({&question, 1})[0], 0.25));
    }
    expected.set_value(most);
  });
  EXPECT_EQ(probability(0.25), expected.get_future().get());
}

// What came just now may have been measured long ago.
TEST_F(TimeTest, TheAgeOfAMeasurementIsNotThatOfItsArrival) {
  const auto live = open_dated();
  live->submit_and_wait({{"bed", at_hour(9), 0, 1.0}});
  std::promise<std::pair<double, double>> ages;
  live->on_stream("bed", [&](Live::Access access, LiveStream* stream) {
    const nlohmann::json told = described(access, *stream, false);
    ages.set_value({told.at("measured_age"), now_ - told.at("received").get<double>()});
  });
  EXPECT_EQ(ages.get_future().get(), std::pair(3600.0, 0.0));
}

TEST_F(TimeTest, RetentionCountsFromArrival) {
  const auto live = open_dated({.keep = 2});
  double hour = 8;
  for (int i = 0; i < 200; ++i, hour += 0.01) {
    now_ = kEpoch + 3600 * hour;
    ASSERT_EQ(live->submit_and_wait({{"bed", at_hour(hour), i % 3, std::sin(0.3 * i)}}).stored, 1u);
  }
  // A device whose clock is years behind, or ahead within the tolerance, costs nothing.
  EXPECT_EQ(live->submit_and_wait({{"bed", at_hour(hour + 0.07), 0, 1.0}}).stored, 1u);
  EXPECT_EQ(values_of(*live, "bed").size(), 201u);
  now_ = kEpoch + 3600 * (hour + 1.5);
  for (int i = 0; i < 64; ++i, hour += 0.005)
    ASSERT_EQ(live->submit_and_wait({{"bed", at_hour(hour + 1), i % 3, 0.5}}).stored, 1u);
  EXPECT_TRUE(holds([&] {
    const auto values = values_of(*live, "bed");
    return values.size() < 160 && values.size() >= 120;
  })) << values_of(*live, "bed").size();
  const Outcome refused = live->submit_and_wait({{"bed", at_hour(8.005), 0, 1.0}});
  EXPECT_EQ(refused.kind, Outcome::Kind::invalid);
  EXPECT_THROW(open({.keep = 3}), Error);  // of plain numbers nobody knows how long that is
}

// The base of what is kept and a late value before it, in one transaction.
TEST_F(TimeTest, RetentionAndALateValueInOneCommitLeaveAWholeStream) {
  const auto live = open_dated({.keep = 0.5});
  std::vector<Row> rows;
  for (int i = 0; i < 200; ++i)
    rows.push_back({"bed", at_hour(1 + 0.01 * i), i % 3, std::sin(0.3 * i)});
  live->submit_and_wait({rows.begin(), rows.end() - 70});
  now_ = now_ + 3600;
  // The writer waits while the shard asks it to forget and a late value comes: first until the rest
  // is queued, then, after that was committed, until the late value is.
  std::promise<void> queued, came;
  const auto wait_for = [&](std::promise<void>& latch) {
    live->write([opened = latch.get_future().share()](Store&) { opened.wait(); }, {}, true);
  };
  wait_for(queued);
  std::promise<void> absorbed;
  live->submit({rows.end() - 70, rows.end()}, [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.kind, Outcome::Kind::stored);
    absorbed.set_value();
  });
  wait_for(came);
  queued.set_value();
  absorbed.get_future().get();
  std::promise<Outcome> late;
  live->submit({{"bed", at_hour(1.005), 0, 9.0}},
               [&](const Outcome& outcome) { late.set_value(outcome); });
  came.set_value();
  const Outcome outcome = late.get_future().get();
  std::promise<bool> whole;
  live->on_stream("bed", [&](Live::Access access, LiveStream* stream) {
    double base = -kInfinity;
    access.store.each_stream([&](KeptStream&& kept) { base = kept.base; });
    const auto states = access.store.states(stream->id, fingerprint(*dated_model()));
    EXPECT_EQ(base > -kInfinity, outcome.kind == Outcome::Kind::invalid);
    whole.set_value(base == -kInfinity ||
                    (!states.empty() && states.front().time == base && stream->events >= 200));
  });
  EXPECT_TRUE(whole.get_future().get());
}

TEST_F(TimeTest, AValueOrARangeCanBeRemovedAsIfItHadNeverCome) {
  const auto clean = open_dated();
  std::vector<Row> rows;
  for (int i = 0; i < 100; ++i)
    rows.push_back({"bed", at_hour(1 + 0.02 * i), i % 3, std::sin(0.3 * i)});
  clean->submit_and_wait(rows);
  const std::vector<double> times{kEpoch + 3600 * 2.5, kEpoch + 3600 * 3.5};
  const Bits bits = asked(*clean, "bed", times);
  clean->submit_and_wait({{"bed", at_hour(1.505), 0, 900.0}, {"bed", at_hour(1.505), 1, 0.5}});
  EXPECT_NE(asked(*clean, "bed", times), bits);
  const double when = at_hour(1.505).value;
  EXPECT_EQ(erase(*clean, "bed", when, when, {0}).first, 1u);
  EXPECT_EQ(erase(*clean, "bed", when, when).first, 1u);
  EXPECT_EQ(erase(*clean, "bed", when, when).first, 0u);
  EXPECT_EQ(asked(*clean, "bed", times), bits);
  EXPECT_FALSE(erase(*clean, "nobody", when, when).first);
  EXPECT_EQ(erase(*clean, "bed", at_hour(0).value, at_hour(9).value).first, 100u);
  EXPECT_TRUE(values_of(*clean, "bed").empty());
  EXPECT_EQ(clean->submit_and_wait(rows).stored, 100u);
  EXPECT_EQ(asked(*clean, "bed", times), bits);
}

// A number with which the state would not be finite: refused, and nothing else suffers.
TEST_F(TimeTest, WhatCannotBeAbsorbedIsNotCalledStored) {
  std::vector<std::string> notices;
  const auto live =
      std::make_unique<Live>(fragile_model(), LiveSettings{.shards = 2, .alarm_interval = 0},
                             open_store(store(), {}, notices), std::vector<Rule>());
  const std::vector<Row> rows = rows_of(waves(), 0);
  const std::string name = waves().ids[0];
  const auto half = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  live->submit_and_wait({rows.begin(), half});
  const double when = (half - 1)->time.value + 1e-6;
  const Outcome alone = live->submit_and_wait({{name, {when, false}, 0, 1e300}});
  EXPECT_EQ(alone.kind, Outcome::Kind::invalid) << alone.stored;
  EXPECT_EQ(alone.stored, 0u);
  EXPECT_EQ(rejected(*live), 1u);
  // Late, and as a correction: what was right before stands again.
  const Outcome late =
      live->submit_and_wait({{name, {rows[0].time.value + 1e-6, false}, 0, 1e300}});
  EXPECT_EQ(late.kind, Outcome::Kind::invalid) << late.stored;
  Row correction = rows[1];
  correction.value = 1e300;
  EXPECT_EQ(live->submit_and_wait({correction}).kind, Outcome::Kind::invalid);
  // Beside a good one of the same moment.
  const Outcome both =
      live->submit_and_wait({{"new", {0.5, false}, 0, 1e300}, {"new", {0.5, false}, 1, 0.5}});
  EXPECT_EQ(both.kind, Outcome::Kind::stored);
  EXPECT_EQ(both.stored, 1u);
  EXPECT_EQ(both.refused.count, 1u);
  const std::uint64_t replays = live->counters().replays;
  EXPECT_EQ(live->submit_and_wait({half, rows.end()}).kind, Outcome::Kind::stored);
  EXPECT_EQ(live->counters().replays, replays);  // the stream was not lost
  EXPECT_EQ(asked(*live, name, kTimes), predicted(*fragile_model(), waves(), 0, kTimes));
  Dataset good;
  good.features = waves().features;
  good.add_series("new");
  good.add_event(0.5);
  good.add_observation(1, 0.5);
  EXPECT_EQ(asked(*live, "new", kTimes), predicted(*fragile_model(), good, 0, kTimes));
}

TEST_F(TimeTest, AnotherModelIsToldWhatItDoesNotKnow) {
  {
    const auto live = open_dated({.keep = 0.5});
    for (int i = 0; i < 200; ++i) {
      now_ = kEpoch + 3600 * (1 + 0.02 * i);
      live->submit_and_wait({{"bed", at_hour(1 + 0.02 * i), i % 3, 0.5}});
    }
  }
  std::vector<std::string> notices;
  LiveSettings settings;
  settings.shards = 1;
  settings.clock = [this] { return now_.load(); };
  {
    Live live(dated(7, waves().features), settings, open_store(store(), {}, notices), {});
    ASSERT_EQ(live.notices().size(), 1u);
    EXPECT_NE(live.notices()[0].find("shortened"), std::string::npos) << live.notices()[0];
    std::promise<double> first;
    live.on_stream("bed",
                   [&](Live::Access, LiveStream* stream) { first.set_value(stream->first); });
    EXPECT_EQ(first.get_future().get(), at_hour(1).value);  // the clock that it had
  }
  {
    Live live(dated(7, {"y1", "x2", "x3"}), settings, open_store(store(), {}, notices), {});
    EXPECT_NE(live.notices()[0].find("x1"), std::string::npos) << live.notices()[0];
  }
  EXPECT_THROW(Live(dated(7, {"z1", "z2", "z3"}), settings, open_store(store(), {}, notices), {}),
               Error);
}

// ---- alarms ----

Rule odd() {
  Rule rule;
  rule.name = "odd";
  rule.kind = Rule::Kind::outside;
  rule.level = 0.999;
  return rule;
}

TEST_F(TimeTest, AnOutlierFiresThoughANormalValueFollowsInTheSameBody) {
  const auto live = open({.alarm_interval = 0}, {odd()});
  live->submit_and_wait(rows_of(waves(), 0));
  const std::string name = waves().ids[0];
  EXPECT_TRUE(alarms_of(*live, name).empty());
  live->submit_and_wait({{name, {14.0, false}, 1, 1e5}, {name, {14.5, false}, 1, 0.0}});
  EXPECT_EQ(live->counters().alarms, 1u);
}

TEST_F(TimeTest, AnAlarmOutlivesARestartAndItsNumberIsNeverGivenAgain) {
  const std::string name = waves().ids[0];
  std::int64_t first = 0;
  {
    const auto live = open({.alarm_interval = 0.02}, {odd()});
    live->submit_and_wait(rows_of(waves(), 0));
    live->submit_and_wait({{name, {14.0, false}, 1, 1e5}});
    ASSERT_TRUE(holds([&] { return alarms_of(*live, name).size() == 1; }));
    first = alarms_of(*live, name)[0].id;
  }
  {
    const auto live = open({.alarm_interval = 0.02}, {odd()});
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    const std::vector<Alarm> alarms = alarms_of(*live, name);
    ASSERT_EQ(alarms.size(), 1u);
    EXPECT_EQ(alarms[0].id, first);
    EXPECT_EQ(alarms[0].state, Alarm::State::firing);
    live->submit_and_wait({{name, {14.5, false}, 1, 0.0}});
    ASSERT_TRUE(holds([&] { return alarms_of(*live, name).empty(); }));
  }
  const auto live = open({.alarm_interval = 0.02}, {odd()});
  live->submit_and_wait({{name, {15.0, false}, 1, 1e5}});
  ASSERT_TRUE(holds([&] { return alarms_of(*live, name).size() == 1; }));
  EXPECT_EQ(alarms_of(*live, name)[0].id, first + 1);
}

}  // namespace
}  // namespace edict::server
