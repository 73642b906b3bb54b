// Values that no state can take, and times that no stream can go on from: they are refused with
// their reason, and nothing else suffers.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "server/live_folder.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

std::shared_ptr<const Model> model_with(Propagation propagator, Solver solver = Solver::euler) {
  Config config = small_model()->config;
  config.model.propagator = propagator;
  config.model.solver = solver;
  config.data.start = ClockStart::first;
  return std::make_shared<const Model>(Model::create(config, waves(), split(waves(), 0)));
}

class RefusedValuesTest : public LiveTest {
 protected:
  // On a store of its own.
  std::unique_ptr<Live> open_with(const std::shared_ptr<const Model>& model) {
    std::vector<std::string> notices;
    const std::string path = (folder_ / (std::to_string(stores_++) + ".db")).string();
    return std::make_unique<Live>(model, LiveSettings{.shards = 2}, open_store(path, {}, notices),
                                  std::vector<Rule>());
  }
  template <class Result>
  Result from_store(Live& live, const std::function<Result(Store&)>& read) {
    std::promise<Result> promise;
    live.aside([&](Live::Access access) { promise.set_value(read(access.store)); });
    return promise.get_future().get();
  }
  std::vector<RejectedLine> rejected(Live& live) {
    return from_store<std::vector<RejectedLine>>(live, [](Store& s) { return s.rejected(100); });
  }
  std::vector<KeptValue> values_of(Live& live, std::int64_t stream = 1) {
    return from_store<std::vector<KeptValue>>(
        live, [=](Store& s) { return s.values(stream, -kInfinity, kInfinity, 100000); });
  }
  void expect_refused(const Outcome& outcome, const std::string& why) {
    EXPECT_EQ(outcome.kind, Outcome::Kind::invalid) << outcome.detail;
    EXPECT_EQ(outcome.stored, 0u);
    EXPECT_NE(outcome.detail.find(why), std::string::npos) << outcome.detail;
  }
  // A question that would hold up others, or have no answer.
  void expect_unanswered(Live& live, double time) {
    std::promise<std::string> why;
    live.on_stream(name_, [&](Live::Access access, LiveStream* stream) {
      AskedDistribution question;
      question.at = {time};
      try {
        moments_of(access, *stream, question);
        why.set_value("");
      } catch (const Error& e) {
        why.set_value(e.what());
      }
    });
    EXPECT_NE(why.get_future().get().find("look ahead"), std::string::npos) << time;
  }

  int stores_ = 0;
  const std::string name_ = waves().ids[0];
  const std::vector<Row> rows_ = rows_of(waves(), 0);
};

// What reads bodies takes finite numbers alone, so that the engine refuses an infinite one for
// sure.
constexpr double kUnbearable = kInfinity;

TEST_F(RefusedValuesTest, WhatCannotBeAbsorbedIsNotCalledStored) {
  const auto live = open();
  const auto half = rows_.begin() + static_cast<std::ptrdiff_t>(rows_.size() / 2);
  live->submit_and_wait({rows_.begin(), half});
  const double now = (half - 1)->time.value;
  expect_refused(live->submit_and_wait({{name_, {now + 1e-6, false}, 0, kUnbearable}}),
                 "cannot be absorbed");
  expect_refused(
      live->submit_and_wait({{name_, {rows_[0].time.value + 1e-6, false}, 0, kUnbearable}}),
      "cannot be absorbed");  // late
  Row correction = rows_[1];
  correction.value = kUnbearable;
  expect_refused(live->submit_and_wait({correction}), "cannot be absorbed");
  const Outcome both =
      live->submit_and_wait({{"new", {1, false}, 0, kUnbearable}, {"new", {1, false}, 1, 0.5}});
  EXPECT_EQ(both.kind, Outcome::Kind::stored);
  EXPECT_EQ(both.stored, 1u);
  EXPECT_EQ(both.refused.count, 1u);
  const auto kept = rejected(*live);
  EXPECT_EQ(kept.size(), 4u);
  for (const RejectedLine& line : kept)
    EXPECT_NE(line.detail.find("cannot be absorbed"), std::string::npos) << line.detail;
  EXPECT_EQ(values_of(*live).size(), rows_.size() / 2);
  EXPECT_EQ(live->submit_and_wait({half, rows_.end()}).stored, rows_.size() - rows_.size() / 2);
  EXPECT_EQ(asked(*live, name_, kTimes), predicted(*small_model(), waves(), 0, kTimes));
  Dataset good;
  good.features = waves().features;
  good.add_series("new");
  good.add_event(1);
  good.add_observation(1, 0.5);
  EXPECT_EQ(asked(*live, "new", {5.0, 13.0}), predicted(*small_model(), good, 0, {5.0, 13.0}));
}

// The stream stands where it stood: no value after it costs a replay, and states are kept again.
TEST_F(RefusedValuesTest, NoLaterValueCostsMoreForIt) {
  Dataset data;
  data.features = waves().features;
  data.add_series("a");
  for (int e = 0; e < 400; ++e) {
    data.add_event(0.125 * e);
    data.add_observation(e % 3, std::sin(0.3 * e));
  }
  const std::vector<Row> rows = rows_of(data, 0);
  {
    const auto live = open();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i % 40 == 0)
        expect_refused(
            live->submit_and_wait({{"a",
                                    {rows[i].time.value + (i % 80 == 0 ? 0.01 : 100.0), false},
                                    1,
                                    kUnbearable}}),
            "cannot be absorbed");
      ASSERT_EQ(live->submit_and_wait({rows[i]}).stored, 1u);
    }
    EXPECT_EQ(live->counters().replays, 0u);
    EXPECT_EQ(live->counters().replayed_events, 0u);
  }
  const auto live = open();
  EXPECT_EQ(asked(*live, "a", {51.0}), predicted(*small_model(), data, 0, {51.0}));
  EXPECT_LE(live->counters().replayed_events, 64u);
}

// A server may be killed between the two: then it finds the value in its store.
TEST_F(RefusedValuesTest, OneThatIsStillInTheStoreIsLeftOutAtEveryStart) {
  open()->submit_and_wait(rows_);
  {
    std::vector<std::string> notices;
    const auto direct = open_store(store(), {}, notices);
    Put put;
    const KeptValue value{1, rows_.back().time.value + 0.1, 1, kUnbearable, 0, false};
    direct->begin();
    direct->put({&value, 1}, {&put, 1});
    direct->commit();
  }
  const auto live = open();
  EXPECT_EQ(asked(*live, name_, kTimes), predicted(*small_model(), waves(), 0, kTimes));
  const std::uint64_t before = live->counters().replayed_events;
  EXPECT_EQ(live->submit_and_wait({{name_, {20, false}, 0, 0.5}}).stored, 1u);
  EXPECT_EQ(live->counters().replayed_events, before);
}

TEST_F(RefusedValuesTest, ACorrectionThatCameMeanwhileStands) {
  std::vector<std::string> notices;
  const auto direct = open_store(store(), {}, notices);
  direct->begin();
  const std::int64_t stream = direct->add_stream("a", 0);
  const auto put = [&](double value) {
    const KeptValue one{stream, 1, 1, value, 0, false};
    Put outcome;
    direct->put({&one, 1}, {&outcome, 1});
  };
  const auto stands = [&] {
    const auto values = direct->values(stream, -kInfinity, kInfinity, 10);
    return values.empty() ? std::nan("") : values[0].value;
  };
  put(0.25);
  put(kUnbearable);
  put(0.5);
  EXPECT_FALSE(direct->take_back(stream, 1, 1, kUnbearable));
  EXPECT_EQ(stands(), 0.5);
  put(kUnbearable);
  EXPECT_TRUE(direct->take_back(stream, 1, 1, kUnbearable));
  EXPECT_EQ(stands(), 0.5);
  EXPECT_FALSE(direct->take_back(stream, 1, 1, 0.5));
  EXPECT_TRUE(std::isnan(stands()));
  direct->commit();
}

TEST_F(RefusedValuesTest, AFaultIsAnAlarmUntilAValueIsAbsorbed) {
  const auto live = open({.alarm_interval = 0});
  live->submit_and_wait({{"a", {1, false}, 0, 0.5}});
  const auto rules = [&] {
    std::promise<std::string> promise;
    live->on_stream("a", [&](Live::Access, LiveStream* stream) {
      std::string names;
      for (const Alarm& alarm : stream->alarms) names += alarm.rule + ";";
      promise.set_value(names);
    });
    return promise.get_future().get();
  };
  EXPECT_EQ(rules(), "");
  live->submit_and_wait({{"a", {2, false}, 0, kUnbearable}});
  EXPECT_TRUE(holds([&] { return rules() == "(fault);"; })) << rules();
  live->submit_and_wait({{"a", {2, false}, 0, 0.5}});
  EXPECT_TRUE(holds([&] { return rules().empty(); })) << rules();
}

// ---- times ----

TEST_F(RefusedValuesTest, AHugeTimeIsRefusedAndTheStreamGoesOn) {
  for (const auto& model :
       {model_with(Propagation::gru_ode), model_with(Propagation::gru_ode, Solver::dopri5),
        model_with(Propagation::closed_form)}) {
    const auto live = open_with(model);
    const auto half = rows_.begin() + static_cast<std::ptrdiff_t>(rows_.size() / 2);
    live->submit_and_wait({rows_.begin(), half});
    const auto begin = std::chrono::steady_clock::now();
    for (const double time : {1e300, 1e17, -1e300, -1e17}) {
      expect_refused(live->submit_and_wait({{name_, {time, false}, 0, 0.5}}), "so large");
      expect_refused(live->submit_and_wait({{"new", {time, false}, 0, 0.5}}), "so large");
    }
    EXPECT_EQ(rejected(*live).size(), 8u);
    expect_unanswered(*live, 1e300);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_EQ(live->submit_and_wait({half, rows_.end()}).kind, Outcome::Kind::stored);
    EXPECT_EQ(live->counters().replays, 0u);
    EXPECT_EQ(asked(*live, name_, kTimes), predicted(*model, waves(), 0, kTimes));
  }
}

// A date of 1970 before the others, or one far behind them: from there the model would get no
// further, and every other value of the stream would be left out.
TEST_F(RefusedValuesTest, AGapThatTheModelCannotCrossIsRefused) {
  for (const auto& model :
       {model_with(Propagation::gru_ode), model_with(Propagation::gru_ode, Solver::dopri5)}) {
    const auto live = open_with(model);
    const auto half = rows_.begin() + static_cast<std::ptrdiff_t>(rows_.size() / 2);
    live->submit_and_wait({rows_.begin(), half});
    expect_refused(live->submit_and_wait({{name_, {-1e8, false}, 0, 0.5}}), "before the stream's");
    expect_refused(live->submit_and_wait({{name_, {1e8, false}, 0, 0.5}}), "after the stream's");
    EXPECT_EQ(rejected(*live).size(), 2u);
    EXPECT_EQ(live->submit_and_wait({half, rows_.end()}).kind, Outcome::Kind::stored);
    EXPECT_EQ(live->counters().replays, 0u);
    EXPECT_EQ(asked(*live, name_, kTimes), predicted(*model, waves(), 0, kTimes));
    expect_unanswered(*live, 1e8);
  }
}

// What `edict predict` takes is taken.
TEST_F(RefusedValuesTest, AFixedStepIsRepeatedTenMillionTimes) {
  const auto live = open_with(model_with(Propagation::gru_ode));
  for (const double time : {1.0, 4e6, 8e6})
    EXPECT_EQ(live->submit_and_wait({{"a", {time, false}, 0, 0.5}}).stored, 1u) << time;
}

// A closed form crosses any gap that a number can hold.
TEST_F(RefusedValuesTest, AClosedFormCrossesAnyGap) {
  const auto model = model_with(Propagation::closed_form);
  const auto live = open_with(model);
  Dataset data;
  data.features = waves().features;
  data.add_series("a");
  for (const double time : {-1e8, 1.0, 2.0, 1e9}) {
    data.add_event(time);
    data.add_observation(0, 0.5);
  }
  std::vector<Row> rows = rows_of(data, 0);
  std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  for (const Row& row : rows) EXPECT_EQ(live->submit_and_wait({row}).stored, 1u);
  EXPECT_EQ(asked(*live, "a", {1e9 + 5}), predicted(*model, data, 0, {1e9 + 5}));
}

// While a long gap is crossed, other streams are answered.
TEST_F(RefusedValuesTest, ALongGapKeepsNoOtherWaiting) {
  const auto model = model_with(Propagation::gru_ode, Solver::dopri5);
  std::vector<std::string> notices;
  Live live(model, {.shards = 1}, open_store(store(), {}, notices), {});
  live.submit_and_wait({{"a", {1, false}, 0, 0.5}});
  std::promise<Outcome> crossed;
  live.submit({{"a", {4e4, false}, 0, 0.25}},
              [&](const Outcome& outcome) { crossed.set_value(outcome); });
  auto over = crossed.get_future();
  int answered = 0;
  for (; over.wait_for(std::chrono::seconds(0)) != std::future_status::ready; ++answered)
    EXPECT_EQ(live.submit_and_wait({{"other", {0.5 * answered, false}, 0, 1.0}}).stored, 1u);
  EXPECT_GE(answered, 2);
  const Outcome outcome = over.get();
  EXPECT_EQ(outcome.stored, 1u);
  EXPECT_EQ(outcome.late, 0u);
  Dataset data;
  data.features = waves().features;
  data.add_series("a");
  data.add_event(1);
  data.add_observation(0, 0.5);
  data.add_event(4e4);
  data.add_observation(0, 0.25);
  EXPECT_EQ(asked(live, "a", {4e4 + 1}), predicted(*model, data, 0, {4e4 + 1}));
}

}  // namespace
}  // namespace edict::server
