// Values that are removed while others come: what is left is what was answered, at once and after a
// restart.
#include <cmath>
#include <set>

#include "server/faulty_store.h"
#include "server/live_folder.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

constexpr double kStray = 8.8;  // the time of a value that no test keeps
constexpr double kAhead = 9.5;

class RemovalTest : public LiveTest {
 protected:
  RemovalTest() {
    data_.features = waves().features;
    data_.add_series("long");
    for (int e = 0; e < 72; ++e) {
      data_.add_event(0.125 * e);
      data_.add_observation(e % 3, std::sin(0.3 * e));
    }
  }
  std::unique_ptr<Live> open_faulty() {
    std::vector<std::string> notices;
    return std::make_unique<Live>(
        small_model(), LiveSettings{.shards = 2},
        std::make_unique<FaultyStore>(open_store(store(), {}, notices), faults_),
        std::vector<Rule>());
  }
  static std::future<void> erase(Live& live, const std::string& stream, double time) {
    auto done = std::make_shared<std::promise<void>>();
    live.erase(stream, time, time, {}, "", [done](const auto&...) { done->set_value(); });
    return done->get_future();
  }
  static std::future<Outcome> submit(Live& live, std::vector<Row> rows) {
    auto done = std::make_shared<std::promise<Outcome>>();
    live.submit(std::move(rows), [done](const Outcome& outcome) { done->set_value(outcome); });
    return done->get_future();
  }
  static std::set<std::string> listed(Live& live) {
    std::promise<void> seen;
    std::set<std::string> names;
    live.on_every_shard([&](Live::Access, Live::Streams& streams, std::size_t remaining) {
      for (const auto& [name, _] : streams) names.insert(name);
      if (remaining == 0) seen.set_value();
    });
    seen.get_future().wait();
    return names;
  }

  Dataset data_;
  std::shared_ptr<StoreFaults> faults_ = std::make_shared<StoreFaults>();
};

// What waits together with the removal is committed with it, as far as the order allows.
TEST_F(RemovalTest, AStreamWhoseFirstValuesAreRemovedIsThere) {
  const auto live = open();
  std::promise<void> gate;
  live->write([&](Store&) { gate.get_future().wait(); }, {});
  auto stored = submit(*live, rows_of(data_, 0));
  auto stray = submit(*live, {{"long", {kStray, false}, 0, 5.0}});
  auto erased = erase(*live, "long", kStray);
  // The writer stops before it goes on with what came in the same transaction.
  live->write([](Store&) {},
              [](const auto&) { std::this_thread::sleep_for(std::chrono::milliseconds(300)); });
  gate.set_value();
  EXPECT_EQ(stored.get().kind, Outcome::Kind::stored);
  stray.get();
  erased.get();
  EXPECT_EQ(listed(*live), std::set<std::string>{"long"});
  EXPECT_EQ(asked(*live, "long", {kAhead}), predicted(*small_model(), data_, 0, {kAhead}));
}

// A replay goes on from a state in memory that has not seen what was committed before it begins.
TEST_F(RemovalTest, WhatComesLateWhileAReplayWaitsIsNotLost) {
  for (const bool removes : {false, true}) {
    SCOPED_TRACE(removes ? "a removal" : "a late value");
    std::filesystem::remove(store());
    {
      const auto live = open_faulty();
      const std::vector<Row> rows = rows_of(data_, 0);
      // A state is kept after 64 events; what is late lies on both sides of it.
      std::vector<Row> first(rows.begin(), rows.end());
      if (removes)
        first.push_back({"long", {kStray, false}, 0, 5.0});
      else
        first.erase(first.begin() + 70);
      first.erase(first.begin() + 61);
      live->submit_and_wait(first);
      live->submit_and_wait({{"other", {1.0, false}, 0, 1.0}, {"other", {2.0, false}, 0, 1.0}});

      std::promise<void> reached, gate;
      const std::shared_future<void> open(gate.get_future());
      std::atomic<bool> once{true};
      faults_->on_state = [&](std::int64_t) {
        if (!once.exchange(false)) return;
        reached.set_value();
        open.wait();
      };
      auto other = submit(*live, {{"other", {0.5, false}, 0, 1.0}});
      reached.get_future().wait();  // the thread of replays waits
      const std::uint64_t before = live->counters().commits;
      auto near = removes ? std::future<Outcome>() : submit(*live, {rows[70]});
      auto gone = removes ? erase(*live, "long", kStray) : std::future<void>();
      ASSERT_TRUE(holds([&] { return live->counters().commits > before; }));
      auto far = submit(*live, {rows[61]});
      ASSERT_TRUE(holds([&] { return live->counters().commits > before + 1; }));
      gate.set_value();
      other.get();
      if (near.valid()) {
        EXPECT_EQ(near.get().kind, Outcome::Kind::stored);
      }
      if (gone.valid()) gone.get();
      EXPECT_EQ(far.get().kind, Outcome::Kind::stored);
      EXPECT_EQ(asked(*live, "long", {kAhead}), predicted(*small_model(), data_, 0, {kAhead}));
      faults_->on_state = [](std::int64_t) {};
    }
    EXPECT_EQ(asked(*open(), "long", {kAhead}), predicted(*small_model(), data_, 0, {kAhead}));
  }
}

// Everything at once, from several threads.
TEST_F(RemovalTest, LateValuesAndRemovalsAtTheSameTimeLeaveWhatWasAnswered) {
  const std::vector<Row> rows = rows_of(data_, 0);
  {
    const auto live = open();
    live->submit_and_wait({rows.begin() + 40, rows.end()});
    std::thread removes([&] {
      for (int i = 0; i < 60; ++i) {
        submit(*live, {{"long", {kStray + 0.0005 * i, false}, 0, 5.0}}).wait();
        erase(*live, "long", kStray + 0.0005 * i).wait();
      }
    });
    std::vector<std::future<Outcome>> answers;
    for (int i = 39; i >= 0; --i) {
      answers.push_back(submit(*live, {rows[static_cast<std::size_t>(i)]}));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (auto& answer : answers) EXPECT_EQ(answer.get().kind, Outcome::Kind::stored);
    removes.join();
    EXPECT_EQ(asked(*live, "long", {kAhead}), predicted(*small_model(), data_, 0, {kAhead}));
  }
  EXPECT_EQ(asked(*open(), "long", {kAhead}), predicted(*small_model(), data_, 0, {kAhead}));
}

}  // namespace
}  // namespace edict::server
