// A store that 1.0 wrote is upgraded when it is opened, and nothing in it is lost.
#include <sqlite3.h>

#include <cmath>

#include "base/error.h"
#include "server/live_folder.h"

namespace edict::server {
namespace {

// As 1.0 made them.
constexpr const char* kFormat1 = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE features (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE streams (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, origin REAL, base REAL,
  about TEXT NOT NULL DEFAULT '{}');
CREATE TABLE observations (
  stream INTEGER NOT NULL, time REAL NOT NULL, feature INTEGER NOT NULL, value REAL NOT NULL,
  received REAL NOT NULL, corrected INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, time, feature)) WITHOUT ROWID;
CREATE TABLE states (
  stream INTEGER NOT NULL, time REAL NOT NULL, model INTEGER NOT NULL, first REAL NOT NULL,
  events INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (stream, time)) WITHOUT ROWID;
CREATE TABLE alarms (
  id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, rule TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY, at REAL NOT NULL, what TEXT NOT NULL, who TEXT NOT NULL,
  stream TEXT NOT NULL, detail TEXT NOT NULL);
CREATE TABLE rejected (
  id INTEGER PRIMARY KEY, at REAL NOT NULL, source TEXT NOT NULL, detail TEXT NOT NULL,
  payload BLOB NOT NULL);
INSERT INTO features SELECT id, name FROM new.features;
INSERT INTO streams SELECT id, name, origin, base, about FROM new.streams;
INSERT INTO observations SELECT stream, time, feature, value, received, corrected
  FROM new.observations;
INSERT INTO states SELECT stream, time, model, first, events, bytes FROM new.states;
INSERT INTO alarms SELECT * FROM new.alarms;
INSERT INTO audit SELECT * FROM new.audit;
INSERT INTO rejected SELECT * FROM new.rejected;
INSERT INTO meta VALUES ('format', '1'), ('events', '7');
INSERT INTO meta SELECT key, value FROM new.meta WHERE key = 'rules';
)sql";

class StoreFormatTest : public LiveTest {
 protected:
  static void run(const std::filesystem::path& path, const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  // The store as 1.0 would have written it.
  void to_format_1() const {
    const std::filesystem::path current = folder_ / "current.db";
    std::filesystem::rename(store(), current);
    run(store(), "ATTACH '" + current.string() + "' AS new; " + kFormat1);
  }
};

// Of each stream every value, also of one whose beginning was removed.
TEST_F(StoreFormatTest, OneOfFormat1IsUpgradedAndNothingIsLost) {
  Dataset data;
  data.features = waves().features;
  data.add_series("cut");
  for (int e = 0; e < 100; ++e) {
    data.add_event(0.125 * e);
    data.add_observation(e % 3, std::sin(0.3 * e));
  }
  const std::vector<Row> rows = rows_of(waves(), 0), cut = rows_of(data, 0);
  Rule rule;
  rule.name = "odd";
  rule.kind = Rule::Kind::outside;
  rule.level = 0.999;
  {
    const auto live = open({.alarm_interval = 0});
    std::promise<void> set;
    live->set_rules({rule}, "anna", [&](const auto&) { set.set_value(); });
    set.get_future().get();
    Row wrong = rows[1];
    wrong.value += 1;
    live->submit_and_wait({wrong});
    live->submit_and_wait({rows.begin(), rows.end() - 5});
    live->submit_and_wait(cut);
    live->submit_and_wait({{"odd", {1, false}, 1, 1e5}});
    live->reject("mqtt", "payload", "detail");
    EXPECT_EQ(live->counters().alarms, 1u);
  }
  to_format_1();
  // Up to its state after 64 events the beginning of a stream was removed.
  run(store(),
      "UPDATE streams SET base = 7.875 WHERE name = 'cut'; DELETE FROM observations WHERE time <= "
      "7.875 AND stream = (SELECT id FROM streams WHERE name = 'cut'); DELETE FROM states WHERE "
      "time < 7.875 AND stream = (SELECT id FROM streams WHERE name = 'cut')");
  for (int start = 0; start < 2; ++start) {
    const auto live = open({.alarm_interval = 0});
    EXPECT_TRUE(notices_.empty());
    EXPECT_TRUE(live->notices().empty());
    EXPECT_EQ(live->streams(), 3u);
    ASSERT_EQ(live->rules().size(), 1u);
    EXPECT_EQ(live->rules()[0].name, "odd");
    const Outcome outcome = live->submit_and_wait(rows);
    EXPECT_EQ(outcome.stored, start == 0 ? 5u : 0u);
    EXPECT_EQ(outcome.unchanged, start == 0 ? rows.size() - 5 : rows.size());
    EXPECT_EQ(asked(*live, waves().ids[0], kTimes), predicted(*small_model(), waves(), 0, kTimes));
    EXPECT_EQ(asked(*live, "cut", {10.1, 13.0}), predicted(*small_model(), data, 0, {10.1, 13.0}));
    EXPECT_EQ(live->submit_and_wait({cut[3]}).kind, Outcome::Kind::invalid);
    std::promise<void> looked;
    live->on_stream("cut", [&](Live::Access access, LiveStream* stream) {
      EXPECT_EQ(stream->first, 0.0);
      EXPECT_EQ(access.store.values(stream->id, -kInfinity, kInfinity, 1000).size(), 36u);
      EXPECT_EQ(access.store.rejected(10).size(), 1u);
      std::int64_t alarms = 0;
      access.store.each_alarm([&](KeptAlarm&& alarm) { alarms += alarm.id; });
      EXPECT_EQ(alarms, 1);
      EXPECT_EQ(access.store.meta("format"), "2");
      looked.set_value();
    });
    looked.get_future().get();
  }
}

TEST_F(StoreFormatTest, OneOfALaterFormatIsRefusedInOneLine) {
  open()->submit_and_wait(rows_of(waves(), 0));
  run(store(), "UPDATE meta SET value = '3' WHERE key = 'format'");
  try {
    open();
    ADD_FAILURE();
  } catch (const Error& e) {
    const std::string why = e.what();
    EXPECT_NE(why.find("format 3, here 2"), std::string::npos) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace edict::server
