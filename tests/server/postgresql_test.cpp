// The same behaviour on Debian's PostgreSQL, started in a folder of its own, where it is installed.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/json/json.h"
#include "front/server/http/health.h"
#include "server/database.h"
#include "server/database_proxy.h"
#include "server/live_folder.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

class PostgresqlTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Database::installed()) GTEST_SKIP() << "postgresql-15 is not installed";
    database_ = std::make_unique<Database>();
  }
  std::unique_ptr<Live> open(const std::string& uri = {}, const StoreOptions& options = {}) {
    std::vector<std::string> notices;
    LiveSettings settings;
    settings.shards = 2;
    return std::make_unique<Live>(
        small_model(), settings, open_store(uri.empty() ? database_->uri() : uri, options, notices),
        std::vector<Rule>());
  }
  std::filesystem::path folder() const { return database_->folder().path(); }

  std::unique_ptr<Database> database_;
};

TEST_F(PostgresqlTest, LateDoubledAndCorrectedValuesGiveTheBitsOfPredict) {
  std::mt19937 random(5);
  {
    const auto live = open();
    EXPECT_THROW(open(), Error);  // one server a database
    for (std::size_t s = 0; s < 2; ++s) {
      std::vector<Row> rows = rows_of(waves(), s);
      std::shuffle(rows.begin(), rows.end(), random);
      std::size_t corrected = 0, unchanged = 0;
      for (std::size_t i = 0; i < rows.size(); i += 5) {
        std::vector<Row> some(
            rows.begin() + static_cast<std::ptrdiff_t>(i),
            rows.begin() + static_cast<std::ptrdiff_t>(std::min(i + 5, rows.size())));
        Row wrong = some[0];
        wrong.value += 1;
        live->submit_and_wait({wrong});
        const Outcome outcome = live->submit_and_wait(some);
        EXPECT_EQ(outcome.kind, Outcome::Kind::stored) << outcome.detail;
        corrected += outcome.corrected;
        unchanged += live->submit_and_wait(some).unchanged;
      }
      EXPECT_EQ(corrected, (rows.size() + 4) / 5);
      EXPECT_EQ(unchanged, rows.size());
    }
    for (std::size_t s = 0; s < 2; ++s)
      EXPECT_EQ(asked(*live, waves().ids[s], kTimes),
                predicted(*small_model(), waves(), s, kTimes));
    live->reject("test", std::string("a\0b", 3), "no reason");
  }
  const auto live = open();
  EXPECT_EQ(live->streams(), 2u);
  for (std::size_t s = 0; s < 2; ++s)
    EXPECT_EQ(asked(*live, waves().ids[s], kTimes), predicted(*small_model(), waves(), s, kTimes));
  std::promise<std::vector<RejectedLine>> rejected;
  live->aside([&](Live::Access access) { rejected.set_value(access.store.rejected(5)); });
  EXPECT_EQ(rejected.get_future().get().at(0).payload, std::string("a\0b", 3));
}

// The server goes away and comes back: what could not be stored was not answered as if it were.
TEST_F(PostgresqlTest, SurvivesARestartOfTheDatabase) {
  const auto live = open();
  EXPECT_EQ(live->submit_and_wait(rows_of(waves(), 0)).kind, Outcome::Kind::stored);
  ASSERT_EQ(database_->stop(), 0);
  EXPECT_EQ(live->submit_and_wait(rows_of(waves(), 1)).kind, Outcome::Kind::failed);
  EXPECT_FALSE(live->store_problem().empty());
  ASSERT_EQ(database_->start(), 0);
  Outcome outcome;
  for (int tries = 0; tries < 3; ++tries) {
    outcome = live->submit_and_wait(rows_of(waves(), 1));
    if (outcome.kind == Outcome::Kind::stored) break;
  }
  EXPECT_EQ(outcome.kind, Outcome::Kind::stored) << outcome.detail;
  for (std::size_t s = 0; s < 2; ++s)
    EXPECT_EQ(asked(*live, waves().ids[s], kTimes), predicted(*small_model(), waves(), s, kTimes));
}

TEST_F(PostgresqlTest, ADatabaseThatIsEmptiedIsNoticed) {
  const auto live = open();
  const Health health(*live);
  EXPECT_EQ(live->submit_and_wait(rows_of(waves(), 0)).kind, Outcome::Kind::stored);
  const auto problem = [&] { return health.checks().at(0).problem; };
  ASSERT_TRUE(holds([&] {
    std::promise<bool> marked;
    live->aside(
        [&](Live::Access access) { marked.set_value(access.store.meta("server").has_value()); });
    return marked.get_future().get();
  })) << problem();
  EXPECT_EQ(problem(), "");
  ASSERT_EQ(database_->query("TRUNCATE meta, streams, observations"), 0);
  EXPECT_TRUE(holds([&] { return problem().find("emptied") != std::string::npos; })) << problem();
}

TEST_F(PostgresqlTest, ThePasswordIsNotShownAtTheStart) {
  save_model(*small_model(), folder() / "waves.model");
  const std::string uri = "postgresql://edict:secret@/postgres?host=" + folder().string();
  ASSERT_EQ(
      std::system(("cd '" + folder().string() +
                   "' && { '" EDICT_SERVER "' serve waves.model --listen 127.0.0.1:0 --store '" +
                   uri +
                   "' >out 2>&1 & pid=$!; for i in $(seq 300); do grep -q serving out && "
                   "break; sleep 0.1; done; kill $pid; wait $pid; }")
                      .c_str()),
      0);
  const std::string out = database_->folder().read("out");
  EXPECT_NE(out.find("postgresql://edict:***@/postgres"), std::string::npos) << out;
  EXPECT_EQ(out.find("secret"), std::string::npos) << out;
}

// The connection breaks during a COMMIT: what became of it is looked for, and the streams are those
// of a run in which nothing broke.
TEST_F(PostgresqlTest, ACommitWhoseReplyIsLostIsLookedFor) {
  const std::string sockets = (folder() / "proxy").string();
  DatabaseProxy proxy(sockets, folder().string());
  const std::string uri = "postgresql://edict@/postgres?host=" + sockets;
  using Loses = DatabaseProxy::Loses;
  std::vector<std::vector<Row>> rows;
  for (std::size_t s = 0; s < 4; ++s) rows.push_back(rows_of(waves(), s));
  {
    const auto live = open(uri);
    for (std::size_t s = 0; s < 4; ++s) {
      const auto half = rows[s].begin() + static_cast<std::ptrdiff_t>(rows[s].size() / 2);
      // The commit makes the stream (0, 2), or goes on with it.
      const bool makes = s % 2 == 0;
      if (!makes) live->submit_and_wait({rows[s].begin(), half});
      proxy.lose(s < 2 ? Loses::reply : Loses::request);
      const std::vector<Row> some =
          makes ? std::vector<Row>(rows[s].begin(), half) : std::vector<Row>(half, rows[s].end());
      const Outcome first = live->submit_and_wait(some);
      EXPECT_TRUE(proxy.lost());
      EXPECT_EQ(first.kind, s < 2 ? Outcome::Kind::stored : Outcome::Kind::failed) << first.detail;
      EXPECT_EQ(live->submit_and_wait(rows[s]).kind, Outcome::Kind::stored);
      EXPECT_EQ(asked(*live, waves().ids[s], kTimes),
                predicted(*small_model(), waves(), s, kTimes));
    }
    // The database cannot be asked what became of it.
    for (const Loses loses : {Loses::reply, Loses::request}) {
      const std::size_t s = loses == Loses::reply ? 4 : 5;
      rows.push_back(rows_of(waves(), s));
      proxy.lose(loses, true);
      EXPECT_EQ(live->submit_and_wait(rows[s]).kind, Outcome::Kind::failed);
      EXPECT_EQ(live->submit_and_wait(rows[s]).kind, Outcome::Kind::failed);
      proxy.set_down(false);
      const Outcome again = live->submit_and_wait(rows[s]);
      EXPECT_EQ(again.kind, Outcome::Kind::stored) << again.detail;
      EXPECT_EQ(again.unchanged, loses == Loses::reply ? rows[s].size() : 0u);
      EXPECT_EQ(asked(*live, waves().ids[s], kTimes),
                predicted(*small_model(), waves(), s, kTimes));
    }
  }
  const auto live = open();
  EXPECT_EQ(live->streams(), 6u);
  for (std::size_t s = 0; s < 6; ++s)
    EXPECT_EQ(asked(*live, waves().ids[s], kTimes), predicted(*small_model(), waves(), s, kTimes));
}

// A database that says nothing fails what it is sent; it does not hold up everything for ever.
TEST_F(PostgresqlTest, ASilentDatabaseFailsWhatItIsSentAndNotTheEnd) {
  const auto seconds = [begin = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::string sockets = (folder() / "proxy").string();
  DatabaseProxy proxy(sockets, folder().string());
  auto live = open("postgresql://edict@/postgres?host=" + sockets,
                   {.patience = std::chrono::milliseconds(500)});
  const std::vector<Row> rows = rows_of(waves(), 0);
  EXPECT_EQ(live->submit_and_wait({rows.begin(), rows.end() - 5}).kind, Outcome::Kind::stored);
  proxy.set_paused(true);
  double begin = seconds();
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = live->submit_and_wait(rows);
    EXPECT_EQ(outcome.kind, Outcome::Kind::failed);
    EXPECT_NE(outcome.detail.find("not answer"), std::string::npos) << outcome.detail;
  }
  EXPECT_LT(seconds() - begin, 10);
  EXPECT_FALSE(live->store_problem().empty());
  proxy.set_paused(false);
  EXPECT_TRUE(holds([&] { return live->submit_and_wait(rows).kind == Outcome::Kind::stored; }));
  EXPECT_EQ(asked(*live, waves().ids[0], kTimes), predicted(*small_model(), waves(), 0, kTimes));
  proxy.set_paused(true);
  begin = seconds();
  live.reset();
  EXPECT_LT(seconds() - begin, 10);
}

// A statement that takes longer than that is no silence while the database answers others.
TEST_F(PostgresqlTest, AStatementMayTakeLong) {
  const auto live = open({}, {.patience = std::chrono::milliseconds(300)});
  EXPECT_EQ(live->submit_and_wait({rows_of(waves(), 0).front()}).kind, Outcome::Kind::stored);
  // A lock that somebody else holds for a while.
  std::thread other(
      [&] { database_->query("BEGIN; LOCK TABLE observations; SELECT pg_sleep(2); COMMIT"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  EXPECT_EQ(live->submit_and_wait(rows_of(waves(), 0)).kind, Outcome::Kind::stored);
  other.join();
}

// Another server wrote while this one had lost its lock: it reads everything again.
TEST_F(PostgresqlTest, WhatAnotherServerWroteMeanwhileIsReadAgain) {
  const std::string sockets = (folder() / "proxy").string();
  DatabaseProxy proxy(sockets, folder().string());
  const auto live = open("postgresql://edict@/postgres?host=" + sockets);
  const std::vector<Row> rows = rows_of(waves(), 0);
  const auto third = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 3);
  EXPECT_EQ(live->submit_and_wait({rows.begin(), third}).kind, Outcome::Kind::stored);
  proxy.set_down(true);
  {
    const auto other = open();
    EXPECT_EQ(other->submit_and_wait({third, rows.end() - 3}).kind, Outcome::Kind::stored);
    EXPECT_EQ(other->submit_and_wait(rows_of(waves(), 1)).kind, Outcome::Kind::stored);
    EXPECT_EQ(live->submit_and_wait({rows.end() - 3, rows.end()}).kind, Outcome::Kind::failed);
  }
  proxy.set_down(false);
  EXPECT_EQ(live->submit_and_wait({rows.end() - 3, rows.end()}).kind, Outcome::Kind::stored);
  EXPECT_EQ(live->streams(), 2u);
  for (std::size_t s = 0; s < 2; ++s)
    EXPECT_EQ(asked(*live, waves().ids[s], kTimes), predicted(*small_model(), waves(), s, kTimes));
}

// Tables as 1.0 made them.
TEST_F(PostgresqlTest, AStoreOfFormat1IsUpgradedAndNothingIsLost) {
  const std::vector<Row> rows = rows_of(waves(), 0);
  open()->submit_and_wait({rows.begin(), rows.end() - 5});
  ASSERT_EQ(database_->query("ALTER TABLE streams DROP COLUMN first; "
                             "ALTER TABLE observations DROP COLUMN prior; "
                             "ALTER TABLE states DROP COLUMN received; TRUNCATE meta"),
            0);
  for (int start = 0; start < 2; ++start) {
    const auto live = open();
    EXPECT_EQ(live->streams(), 1u);
    const Outcome outcome = live->submit_and_wait(rows);
    EXPECT_EQ(outcome.stored, start == 0 ? 5u : 0u);
    EXPECT_EQ(asked(*live, waves().ids[0], kTimes), predicted(*small_model(), waves(), 0, kTimes));
  }
  ASSERT_EQ(database_->query("UPDATE meta SET value = '3' WHERE key = 'format'"), 0);
  try {
    open();
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("format 3, here 2"), std::string::npos) << e.what();
  }
}

TEST_F(PostgresqlTest, LateErasedAndRefusedValuesAreAsInAFile) {
  Dataset data;
  data.features = waves().features;
  data.add_series("long");
  for (int e = 0; e < 300; ++e) {
    data.add_event(0.125 * e);
    data.add_observation(e % 3, std::sin(0.3 * e));
  }
  std::vector<Row> rows = rows_of(data, 0);
  {
    const auto live = open();
    std::vector<Row> some(rows.begin(), rows.end());
    some.erase(some.begin() + 250);
    some.erase(some.begin() + 10);
    live->submit_and_wait(some);
    const std::uint64_t before = live->counters().replayed_events;
    EXPECT_EQ(live->submit_and_wait({rows[250]}).late, 1u);
    EXPECT_LE(live->counters().replayed_events - before, 50 + 25 + 64u);
    EXPECT_EQ(live->submit_and_wait({rows[10]}).late, 1u);
    live->submit_and_wait({{"long", {7.06, false}, 0, 5.0}});
    std::promise<std::size_t> erased;
    live->erase("long", 7.06, 7.06, {0}, "", [&](const Result<std::size_t>& count) {
      erased.set_value(count ? count.value() : 0);
    });
    EXPECT_EQ(erased.get_future().get(), 1u);
    // What cannot be absorbed is taken back: a new value, and a correction.
    for (const double time : {37.4, rows[20].time.value})
      EXPECT_EQ(live->submit_and_wait({{"long", {time, false}, rows[20].feature, kInfinity}}).kind,
                Outcome::Kind::invalid);
    EXPECT_EQ(asked(*live, "long", {38.0}), predicted(*small_model(), data, 0, {38.0}));
  }
  const auto live = open();
  EXPECT_EQ(asked(*live, "long", {5.0, 38.0}), predicted(*small_model(), data, 0, {5.0, 38.0}));
}

}  // namespace
}  // namespace edict::server
