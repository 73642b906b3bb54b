// The store and what lives on it: whatever way observations come, the distributions are those of
// `edict predict` for the same observations, and nothing that was answered is lost.
#include <algorithm>
#include <fstream>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/json/json.h"
#include "server/live_folder.h"

namespace edict::server {
namespace {

Outcome send(Live& live, std::vector<Row> rows) { return live.submit_and_wait(std::move(rows)); }

TEST_F(LiveTest, StreamsGiveTheBitsOfPredict) {
  const auto live = open();
  for (std::size_t s = 0; s < 10; ++s) {
    const Outcome outcome = send(*live, rows_of(waves(), s));
    EXPECT_EQ(outcome.kind, Outcome::Kind::stored);
    EXPECT_EQ(outcome.stored, rows_of(waves(), s).size());
    EXPECT_EQ(outcome.late, 0u);
  }
  for (std::size_t s = 0; s < 10; ++s)
    EXPECT_EQ(asked(*live, waves().ids[s], kTimes), predicted(*small_model(), waves(), s, kTimes));
}

// Every value on its own, in a random order, some of them twice, some wrong at first.
TEST_F(LiveTest, LateDoubledAndCorrectedValuesGiveTheSameBits) {
  const auto live = open();
  std::mt19937 random(5);
  for (std::size_t s = 0; s < 4; ++s) {
    std::vector<Row> rows = rows_of(waves(), s);
    std::shuffle(rows.begin(), rows.end(), random);
    std::size_t corrected = 0, unchanged = 0, late = 0;
    for (const Row& row : rows) {
      if (random() % 4 == 0) {
        Row wrong = row;
        wrong.value += 1;
        send(*live, {wrong});
        const Outcome right = send(*live, {row});
        corrected += right.corrected;
        EXPECT_EQ(right.stored, 1u);
      } else {
        late += send(*live, {row}).late;
      }
      if (random() % 4 == 0) unchanged += send(*live, {row}).unchanged;
    }
    EXPECT_GT(corrected, 0u);
    EXPECT_GT(unchanged, 0u);
    EXPECT_GT(late, 0u);
    EXPECT_EQ(asked(*live, waves().ids[s], kTimes), predicted(*small_model(), waves(), s, kTimes));
  }
}

TEST_F(LiveTest, ARestartChangesNothing) {
  std::vector<Bits> before;
  {
    const auto live = open();
    for (std::size_t s = 0; s < 5; ++s) send(*live, rows_of(waves(), s));
    for (std::size_t s = 0; s < 5; ++s) before.push_back(asked(*live, waves().ids[s], kTimes));
  }
  const auto live = open({.shards = 3});
  EXPECT_EQ(live->streams(), 5u);
  for (std::size_t s = 0; s < 5; ++s) EXPECT_EQ(asked(*live, waves().ids[s], kTimes), before[s]);
  // What is sent again is known; what comes to the newest event finds the state before it.
  EXPECT_EQ(send(*live, rows_of(waves(), 0)).stored, 0u);
}

// States are kept every 32 events; a value before one of them must not find it again.
TEST_F(LiveTest, AKeptStateDiesWithWhatItStoodOn) {
  Dataset longer;
  longer.features = waves().features;
  longer.add_series("long");
  for (int e = 0; e < 100; ++e) {
    longer.add_event(0.125 * e);
    longer.add_observation(e % 3, std::sin(0.3 * e));
  }
  const std::vector<Row> rows = rows_of(longer, 0);
  {
    const auto live = open();
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i != 20) send(*live, {rows[i]});
  }
  {
    const auto live = open();
    EXPECT_EQ(send(*live, {rows[20]}).late, 0u);  // read again as it was not loaded
    EXPECT_EQ(asked(*live, "long", kTimes), predicted(*small_model(), longer, 0, kTimes));
  }
  const auto live = open();
  EXPECT_EQ(asked(*live, "long", kTimes), predicted(*small_model(), longer, 0, kTimes));
}

TEST_F(LiveTest, RetentionKeepsTheBitsAndRefusesWhatLiesBeforeIt) {
  Dataset longer;
  longer.features = waves().features;
  longer.add_series("long");
  for (int e = 0; e < 200; ++e) {
    longer.add_event(0.0625 * e);
    longer.add_observation(e % 3, std::sin(0.3 * e));
  }
  // A unit is a second; what is observed then is received then.
  std::atomic<double> now{0};
  const auto live = open({.time_unit = "s", .keep = 3.0, .clock = [&] { return now.load(); }});
  for (const Row& row : rows_of(longer, 0)) {
    now = row.time.value;
    send(*live, {row});
  }
  const std::vector<double> ahead{12.5, 13.0};
  EXPECT_EQ(asked(*live, "long", ahead), predicted(*small_model(), longer, 0, ahead));
  std::promise<std::size_t> kept;
  live->on_stream("long", [&](Live::Access access, LiveStream* stream) {
    kept.set_value(access.store.values(stream->id, -1, 1e9, 1000).size());
  });
  const std::size_t left = kept.get_future().get();
  EXPECT_LT(left, 110u);
  EXPECT_GE(left, 48u);  // three units of sixteen events
  Row early = rows_of(longer, 0).front();
  early.value = 7;
  const Outcome refused = send(*live, {early});
  EXPECT_EQ(refused.kind, Outcome::Kind::invalid);
  EXPECT_NE(refused.detail.find("long"), std::string::npos);
}

TEST_F(LiveTest, AFullStoreRefusesAndLosesNothing) {
  const auto live = open({}, {}, {.limit_megabytes = 1});
  std::size_t stored = 0;
  Outcome outcome;
  for (int i = 0; i < 400 && outcome.kind == Outcome::Kind::stored; ++i) {
    std::vector<Row> rows;
    for (int k = 0; k < 500; ++k)
      rows.push_back({"s" + std::to_string(i), {0.001 * k, false}, k % 3, 0.5});
    outcome = send(*live, rows);
    stored += outcome.stored;
  }
  ASSERT_EQ(outcome.kind, Outcome::Kind::failed);
  EXPECT_NE(outcome.detail.find("full"), std::string::npos) << outcome.detail;
  EXPECT_FALSE(live->store_problem().empty());
  std::promise<void> removed;
  live->remove("s0", [&](const Result<>& done) {
    EXPECT_TRUE(done);
    removed.set_value();
  });
  removed.get_future().get();
  // Room again: the same is taken now.
  EXPECT_EQ(send(*live, {{"new", {1.0, false}, 0, 1.0}}).kind, Outcome::Kind::stored);
  EXPECT_TRUE(live->store_problem().empty());
  EXPECT_GT(stored, 5000u);
}

TEST_F(LiveTest, MoreThanMayWaitIsRefused) {
  const auto live = open({.most_pending = 2000});
  std::atomic<int> full{0}, stored{0};
  std::vector<std::future<void>> answers;
  for (int i = 0; i < 50; ++i) {
    std::vector<Row> rows;
    for (int k = 0; k < 300; ++k)
      rows.push_back({"s" + std::to_string(i), {0.01 * k, false}, k % 3, 0.5});
    auto answered = std::make_shared<std::promise<void>>();
    answers.push_back(answered->get_future());
    live->submit(std::move(rows), [&, answered](const Outcome& outcome) {
      ++(outcome.kind == Outcome::Kind::full ? full : stored);
      answered->set_value();
    });
  }
  for (auto& answer : answers) answer.get();
  EXPECT_GT(full, 0);
  EXPECT_GT(stored, 0);
  EXPECT_EQ(full + stored, 50);
  EXPECT_EQ(live->pending(), 0u);
}

TEST_F(LiveTest, ADamagedFileIsKeptAside) {
  { send(*open(), rows_of(waves(), 0)); }
  {
    std::fstream file(store(), std::ios::in | std::ios::out | std::ios::binary);
    for (int page = 1; page < 6; ++page) {
      file.seekp(page * 4096);
      file << std::string(2048, 'x');
    }
  }
  const auto live = open();
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_NE(notices_[0].find("damaged"), std::string::npos);
  EXPECT_EQ(live->streams(), 0u);
  std::size_t aside = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    aside += entry.path().string().find(".damaged-") != std::string::npos;
  EXPECT_GE(aside, 1u);
  EXPECT_EQ(send(*live, rows_of(waves(), 1)).kind, Outcome::Kind::stored);
}

TEST_F(LiveTest, OneServerAFile) {
  const auto live = open();
  EXPECT_THROW(open(), Error);
}

TEST_F(LiveTest, ABackupIsWholeAndTakenWhileOthersWrite) {
  const auto live = open();
  send(*live, rows_of(waves(), 0));
  const std::string copy = (folder_ / "copy.db").string();
  std::atomic<bool> done{false};
  std::thread others([&] {
    for (int i = 0; !done; ++i) send(*live, {{"busy", {0.01 * i, false}, 0, 1.0}});
  });
  std::promise<void> written;
  live->aside([&](Live::Access access) {
    access.store.backup(copy);
    EXPECT_THROW(access.store.backup(copy), Error);  // never replaces anything
    written.set_value();
  });
  written.get_future().get();
  done = true;
  others.join();
  std::vector<std::string> notices;
  Live other(small_model(), {.shards = 1}, open_store(copy, {}, notices), {});
  EXPECT_TRUE(notices.empty());
  EXPECT_EQ(asked(other, waves().ids[0], kTimes), predicted(*small_model(), waves(), 0, kTimes));
}

// A backup of gigabytes reads for many seconds, and holds back what it needs of the write-ahead
// log.
TEST_F(LiveTest, AWriterDoesNotWaitForAReader) {
  const auto live = open();
  send(*live, {{"a", {1.0, false}, 0, 1.0}});
  std::promise<void> reading, release;
  live->aside([&](Live::Access access) {
    access.store.each_stream([&](KeptStream&&) {
      reading.set_value();
      release.get_future().wait();
    });
  });
  reading.get_future().get();
  send(*live, {{"a", {2.0, false}, 0, 1.0}});
  // The writer tidies up when nothing came for two seconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  const auto begin = std::chrono::steady_clock::now();
  send(*live, {{"a", {3.0, false}, 0, 1.0}});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  release.set_value();
}

TEST_F(LiveTest, ARemovedStreamIsGoneAndMayComeAgain) {
  const auto live = open();
  send(*live, rows_of(waves(), 0));
  const std::string& name = waves().ids[0];
  for (const bool expected : {true, false}) {
    std::promise<bool> gone;
    live->remove(name, [&](const Result<>& done) { gone.set_value(static_cast<bool>(done)); });
    EXPECT_EQ(gone.get_future().get(), expected);
  }
  EXPECT_EQ(live->streams(), 0u);
  EXPECT_TRUE(asked(*live, name, kTimes).empty());
  send(*live, rows_of(waves(), 0));
  EXPECT_EQ(asked(*live, name, kTimes), predicted(*small_model(), waves(), 0, kTimes));
}

// ---- alarms ----

Rule crossing(double limit, double probability) {
  Rule rule;
  rule.name = "high x1";
  rule.kind = Rule::Kind::crosses;
  rule.feature = 0;
  rule.above = limit;
  rule.within = 1;
  rule.probability = probability;
  rule.priority = Rule::Priority::high;
  return rule;
}

std::vector<Alarm> alarms_of(Live& live, const std::string& name) {
  std::promise<std::vector<Alarm>> promise;
  live.on_stream(name, [&](Live::Access, LiveStream* stream) {
    promise.set_value(stream ? stream->alarms : std::vector<Alarm>());
  });
  return promise.get_future().get();
}

TEST(Alarms, WaitFireRecoverAndEnd) {
  using State = Alarm::State;
  Rule rule;
  rule.pending = 2;
  rule.recovering = 3;
  EXPECT_EQ(next_state(rule, State::normal, 0, true, 10), State::pending);
  EXPECT_EQ(next_state(rule, State::pending, 10, true, 11), State::pending);
  EXPECT_EQ(next_state(rule, State::pending, 10, false, 11), State::normal);
  EXPECT_EQ(next_state(rule, State::pending, 10, true, 12), State::firing);
  EXPECT_EQ(next_state(rule, State::firing, 12, false, 13), State::recovering);
  EXPECT_EQ(next_state(rule, State::recovering, 13, true, 14), State::firing);
  EXPECT_EQ(next_state(rule, State::recovering, 13, false, 15), State::recovering);
  EXPECT_EQ(next_state(rule, State::recovering, 13, false, 16), State::normal);
  // A clock that was set back lengthens the wait and does nothing else.
  EXPECT_EQ(next_state(rule, State::pending, 10, true, 5), State::pending);
  rule.pending = rule.recovering = 0;
  EXPECT_EQ(next_state(rule, State::normal, 0, true, 10), State::firing);
  EXPECT_EQ(next_state(rule, State::firing, 10, false, 11), State::normal);
}

TEST_F(LiveTest, AnAlarmFiresIsAcknowledgedAndSurvivesARestart) {
  // The probability of more than −1000 is one.
  const std::string name = waves().ids[0];
  std::int64_t id = 0;
  {
    const auto live = open({.alarm_interval = 0}, {crossing(-1000, 0.5)});
    send(*live, rows_of(waves(), 0));
    const std::vector<Alarm> alarms = alarms_of(*live, name);
    ASSERT_EQ(alarms.size(), 1u);
    EXPECT_EQ(alarms[0].state, Alarm::State::firing);
    EXPECT_EQ(alarms[0].text, "P(x1 > -1000 within 1) = 1.00");
    id = alarms[0].id;
    std::promise<void> acknowledged;
    live->acknowledge(id, "anna", "moved", [&](const Result<AlarmOfStream>& changed) {
      EXPECT_TRUE(changed);
      acknowledged.set_value();
    });
    acknowledged.get_future().get();
    std::promise<bool> unknown;
    live->acknowledge(id + 99, "anna", "moved", [&](const Result<AlarmOfStream>& changed) {
      unknown.set_value(!changed && changed.failure().kind == Failure::Kind::not_found);
    });
    EXPECT_TRUE(unknown.get_future().get());
  }
  const auto live = open({.alarm_interval = 0}, {crossing(-1000, 0.5)});
  std::vector<Alarm> alarms = alarms_of(*live, name);
  ASSERT_EQ(alarms.size(), 1u);
  EXPECT_EQ(alarms[0].id, id);
  ASSERT_TRUE(alarms[0].acknowledged);
  EXPECT_EQ(alarms[0].acknowledged->by, "anna");
  // Without its rule it is over.
  std::promise<void> changed;
  live->set_rules({crossing(1000, 0.5)}, "anna", [&](const Result<>& done) {
    EXPECT_TRUE(done);
    changed.set_value();
  });
  changed.get_future().get();
  for (int i = 0; i < 200 && !alarms.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    alarms = alarms_of(*live, name);
  }
  EXPECT_TRUE(alarms.empty());
  std::promise<std::vector<AuditLine>> audit;
  live->aside([&](Live::Access access) { audit.set_value(access.store.audit(10)); });
  std::vector<std::string> done;
  for (const AuditLine& line : audit.get_future().get()) done.push_back(line.what);
  EXPECT_EQ(done, (std::vector<std::string>{"normal", "rules", "acknowledge", "firing"}));
}

TEST_F(LiveTest, OutsideAndSilenceAreFound) {
  Rule outside;
  outside.name = "odd";
  outside.kind = Rule::Kind::outside;
  outside.level = 0.999;
  Rule silence;
  silence.name = "quiet";
  silence.kind = Rule::Kind::silence;
  silence.silent = 0.3;
  const auto live = open({.alarm_interval = 0.05}, {outside, silence});
  send(*live, rows_of(waves(), 0));
  const std::string name = waves().ids[0];
  EXPECT_TRUE(alarms_of(*live, name).empty());
  send(*live, {{name, {14.0, false}, 1, 1e5}});
  std::vector<std::string> rules;
  for (int i = 0; i < 100 && rules.size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    rules.clear();
    for (const Alarm& alarm : alarms_of(*live, name)) rules.push_back(alarm.rule);
  }
  std::sort(rules.begin(), rules.end());
  EXPECT_EQ(rules, (std::vector<std::string>{"odd", "quiet"}));
}

TEST(Alarms, AreListedAsSomebodyShouldLook) {
  const auto alarm = [](std::int64_t id, Rule::Priority priority, double since, bool seen) {
    AlarmOfStream one;
    one.alarm.id = id;
    one.alarm.priority = priority;
    one.alarm.since = since;
    if (seen) one.alarm.acknowledged = {"anna", "moved", 9};
    return one;
  };
  using Priority = Rule::Priority;
  std::vector<AlarmOfStream> list{
      alarm(1, Priority::high, 5, true), alarm(2, Priority::low, 9, false),
      alarm(3, Priority::high, 1, false), alarm(4, Priority::medium, 3, false),
      alarm(5, Priority::high, 2, false)};
  std::sort(list.begin(), list.end(), is_more_urgent);
  std::vector<std::int64_t> ids;
  for (const AlarmOfStream& one : list) ids.push_back(one.alarm.id);
  EXPECT_EQ(ids, (std::vector<std::int64_t>{5, 3, 4, 2, 1}));
}

// ---- events ----

TEST(Events, ReplayCoalesceAndReset) {
  EventLog log(100, 8);
  const std::uint64_t watcher = log.watch([] {});
  std::uint64_t seen = log.last();
  EXPECT_EQ(seen, 100u);
  log.publish("stream", "a", "1", true);
  log.publish("alarm", "a", "2", false);
  EXPECT_EQ(*log.after(seen, {}, 1 << 16),
            "id: 101\nevent: stream\ndata: 1\n\nid: 102\nevent: alarm\ndata: 2\n\n");
  EXPECT_EQ(seen, 102u);
  EXPECT_TRUE(log.after(seen, {}, 1 << 16)->empty());
  // Who is behind gets the latest of a stream, and every alarm.
  for (int i = 0; i < 4; ++i) log.publish("stream", "a", std::to_string(i), true);
  log.publish("alarm", "a", "fire", false);
  log.publish("stream", "b", "b", true);
  const std::string text = *log.after(seen, {}, 1 << 16);
  EXPECT_EQ(text.find("data: 2\n"), std::string::npos);
  EXPECT_NE(text.find("data: 3\n"), std::string::npos);
  EXPECT_NE(text.find("data: fire\n"), std::string::npos);
  EXPECT_NE(text.find("data: b\n"), std::string::npos);
  // Only some streams.
  std::uint64_t again = 102;
  EXPECT_EQ(log.after(again, {"b"}, 1 << 16)->find("data: 3"), std::string::npos);
  // Further back than is kept.
  log.publish("stream", "b", "9", true);
  std::uint64_t old = 100;
  EXPECT_NE(log.after(old, {}, 1 << 16)->find("event: reset"), std::string::npos);
  EXPECT_EQ(old, log.last());
  log.unwatch(watcher);
}

}  // namespace
}  // namespace edict::server
