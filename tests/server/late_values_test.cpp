// Values that come late: what is kept of the past for them, what they cost, and whom they delay.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "base/error.h"
#include "front/server/store/checkpoints.h"
#include "server/faulty_store.h"
#include "server/live_folder.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

// A stream of so many events of one value each, at 0, 1/8, 2/8, …
Dataset wave(int events, const std::string& name = "long") {
  Dataset data;
  data.features = waves().features;
  data.add_series(name);
  for (int e = 0; e < events; ++e) {
    data.add_event(0.125 * e);
    data.add_observation(e % 3, std::sin(0.3 * e));
  }
  return data;
}

double seconds_of(const std::function<void()>& what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(CheckpointsTest, AreFewAndTheNearestIsNeverFarBehindWhatIsLate) {
  constexpr std::int64_t kEvents = 200000;
  Checkpoints checkpoints;
  for (std::int64_t n = 1; n <= kEvents; ++n)
    if (checkpoints.wants(n))
      checkpoints.add({static_cast<double>(n), 0, n, 0, std::vector<std::byte>(1)});
  EXPECT_LE(checkpoints.size(), 2 * 13 + 4u);  // log₂(200,000 / 32) = 12.6
  for (const std::int64_t late : {1, 10, 50, 100, 1000, 10000, 100000}) {
    const KeptState* const from = checkpoints.newest_here(static_cast<double>(kEvents - late));
    ASSERT_NE(from, nullptr);
    EXPECT_LE(kEvents - late - from->events, late / 2 + 2 * kKeepEvery) << late;
  }
}

TEST(CheckpointsTest, AStateIsWrongFromWhatCameAfterItOn) {
  std::vector<LateCommit> late;
  add_late(late, {3, 7.0});
  add_late(late, {5, 9.0});
  EXPECT_EQ(valid_before(late, 2), 7.0);
  EXPECT_EQ(valid_before(late, 3), 9.0);
  EXPECT_EQ(valid_before(late, 5), kInfinity);
  add_late(late, {6, 8.0});
  EXPECT_EQ(valid_before(late, 2), 7.0);
  EXPECT_EQ(valid_before(late, 4), 8.0);
  forget_late(late, 5);
  EXPECT_EQ(valid_before(late, 0), 8.0);
}

// 20,000 events once; a value 100 events late replays about 150, and none takes the way of all.
TEST_F(LiveTest, AValueThatIsLateIsAbsorbedFromTheNearestStateBeforeIt) {
  const Dataset data = wave(20000);
  std::vector<Row> rows = rows_of(data, 0);
  const std::vector<std::size_t> late{19900, 19500, 10000};
  std::vector<Row> held;
  for (const std::size_t i : late) held.push_back(rows[i]);
  std::vector<Row> others;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (std::find(late.begin(), late.end(), i) == late.end()) others.push_back(rows[i]);
  const auto live = open();
  for (std::size_t i = 0; i < others.size(); i += 5000)
    live->submit_and_wait(
        {others.begin() + static_cast<std::ptrdiff_t>(i),
         others.begin() + static_cast<std::ptrdiff_t>(std::min(i + 5000, others.size()))});
  for (std::size_t i = 0; i < late.size(); ++i) {
    const std::uint64_t before = live->counters().replayed_events;
    const double took = seconds_of([&] { EXPECT_EQ(live->submit_and_wait({held[i]}).late, 1u); });
    const std::uint64_t back = rows.size() - late[i];
    EXPECT_LE(live->counters().replayed_events - before, back + back / 2 + 64) << back;
    std::printf("%zu events late: %.1f ms\n", static_cast<std::size_t>(back), 1e3 * took);
  }
  const std::vector<double> times{1.0, 1250.1, 2499.9, 2500.5};
  EXPECT_EQ(asked(*live, "long", times), predicted(*small_model(), data, 0, times));
}

// While one stream is absorbed again from its beginning, others are answered.
TEST_F(LiveTest, AReplayDelaysNobodyElse) {
  const Dataset data = wave(40000);
  const std::vector<Row> rows = rows_of(data, 0);
  const auto live = open({.shards = 1});
  live->submit_and_wait({rows.begin() + 1, rows.end()});
  std::promise<double> replayed;
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  live->submit({rows[0]}, [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.late, 1u);
    replayed.set_value(since());
  });
  int answered = 0;
  auto over = replayed.get_future();
  for (; over.wait_for(std::chrono::seconds(0)) != std::future_status::ready; ++answered)
    EXPECT_EQ(live->submit_and_wait({{"other", {0.5 * answered, false}, 0, 1.0}}).stored, 1u);
  EXPECT_GE(answered, 3) << "in " << over.get() << " s";
  EXPECT_EQ(asked(*live, "long", {5000.5}), predicted(*small_model(), data, 0, {5000.5}));
}

// One that takes long runs apart: its own stream and others go on.
TEST_F(LiveTest, AQuestionDelaysNoValue) {
  const auto live = open({.shards = 1});
  EXPECT_EQ(live->submit_and_wait({{"long", {1, false}, 0, 0.5}}).stored, 1u);
  std::promise<void> answered;
  std::promise<bool> before_the_end;
  live->on_stream("long", [&](Live::Access, LiveStream*) {
    before_the_end.set_value(answered.get_future().wait_for(std::chrono::seconds(20)) ==
                             std::future_status::ready);
  });
  for (const char* name : {"long", "other"})
    EXPECT_EQ(live->submit_and_wait({{name, {2, false}, 0, 1.0}}).stored, 1u);
  EXPECT_EQ(asked(*live, "other", {3.0}).size(), 4 * waves().features.size());
  answered.set_value();
  EXPECT_TRUE(before_the_end.get_future().get());
}

// In a random order, in bodies of random length, while states are kept and streams replayed.
TEST_F(LiveTest, EveryOrderOfArrivalGivesTheSameBits) {
  const std::vector<double> times{0.1, 20.05, 49.9, 51.0};
  std::mt19937 random(7);
  for (int round = 0; round < 3; ++round) {
    std::vector<Dataset> data;
    std::vector<Row> all;
    for (int s = 0; s < 4; ++s) {
      data.push_back(wave(400, "s" + std::to_string(round) + std::to_string(s)));
      for (const Row& row : rows_of(data.back(), 0)) all.push_back(row);
    }
    // Mostly in order, as it is from devices: each a little off its place, some very far.
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < all.size(); ++i)
      order.emplace_back(all[i].time.value +
                             static_cast<double>(random() % 20 == 0 ? random() % 40 : random() % 3),
                         i);
    std::sort(order.begin(), order.end());
    {
      const auto live = open();
      std::atomic<int> open_requests{0};
      for (std::size_t i = 0; i < order.size();) {
        std::vector<Row> rows;
        for (std::size_t n = 1 + random() % 30; n > 0 && i < order.size(); --n, ++i)
          rows.push_back(all[order[i].second]);
        ++open_requests;
        live->submit(std::move(rows), [&](const Outcome& outcome) {
          EXPECT_EQ(outcome.kind, Outcome::Kind::stored) << outcome.detail;
          --open_requests;
        });
      }
      EXPECT_TRUE(holds([&] { return open_requests == 0; }));
      for (const Dataset& own : data)
        EXPECT_EQ(asked(*live, own.ids[0], times), predicted(*small_model(), own, 0, times));
    }
    const auto live = open();
    for (const Dataset& own : data)
      EXPECT_EQ(asked(*live, own.ids[0], times), predicted(*small_model(), own, 0, times));
  }
}

// ---- a store that cannot be read ----

class UnreadableTest : public LiveTest {
 protected:
  std::unique_ptr<Live> open_faulty(LiveSettings settings = {}, std::vector<Rule> rules = {}) {
    std::vector<std::string> notices;
    settings.shards = 2;
    return std::make_unique<Live>(
        small_model(), settings,
        std::make_unique<FaultyStore>(open_store(store(), {}, notices), faults_), std::move(rules));
  }
  std::shared_ptr<StoreFaults> faults_ = std::make_shared<StoreFaults>();
};

// A question about the past reads from the state before it to the event after it.
TEST_F(UnreadableTest, AQuestionAboutThePastDoesNotReadToTheEnd) {
  const Dataset data = wave(5000);
  const auto live = open_faulty();
  live->submit_and_wait(rows_of(data, 0));
  ASSERT_TRUE(holds([&] {
    std::promise<bool> kept;
    live->aside([&](Live::Access access) {
      kept.set_value(!access.store.states(1, fingerprint(*small_model())).empty());
    });
    return kept.get_future().get();
  }));
  faults_->values_read = 0;
  EXPECT_EQ(asked(*live, "long", {312.3}), predicted(*small_model(), data, 0, {312.3}));
  const std::size_t back = (5000 - 8 * 312) / 2 + 2 * kKeepEvery;  // CheckpointsTest
  EXPECT_LE(faults_->values_read, back);
}

TEST_F(UnreadableTest, AReadThatFailsIsAnsweredAndTriedAgain) {
  const Dataset data = wave(300);
  const std::vector<Row> rows = rows_of(data, 0);
  std::atomic<double> now{0};
  const auto live = open_faulty({.time_unit = "s", .keep = 5, .clock = [&] { return now.load(); }});
  std::vector<Row> some(rows.begin(), rows.begin() + 200);
  some.erase(some.begin() + 195);
  EXPECT_EQ(live->submit_and_wait(some).kind, Outcome::Kind::stored);
  faults_->reading = true;
  now = 10;  // all of it may be forgotten, which cannot be done
  for (int i = 200; i < 240; ++i)
    EXPECT_EQ(live->submit_and_wait({rows[static_cast<std::size_t>(i)]}).kind,
              Outcome::Kind::stored);
  const Outcome failed = live->submit_and_wait({rows[195]});  // late: its past must be read
  EXPECT_EQ(failed.kind, Outcome::Kind::failed);
  EXPECT_NE(failed.detail.find("cannot be read"), std::string::npos) << failed.detail;
  EXPECT_GT(faults_->failed, 1);
  faults_->reading = false;
  EXPECT_EQ(live->submit_and_wait({rows[195]}).unchanged, 1u);
  EXPECT_EQ(live->submit_and_wait({rows.begin() + 240, rows.end()}).kind, Outcome::Kind::stored);
  EXPECT_EQ(asked(*live, "long", {38.0}), predicted(*small_model(), data, 0, {38.0}));
}

}  // namespace
}  // namespace edict::server
