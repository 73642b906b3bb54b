// One file. WAL mode lets shards read while the writer writes; synchronous=FULL makes a commit wait
// for the disk, which is what an answer to a client promises.
#include <fmt/core.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "front/server/store/sqlite_connection.h"
#include "front/server/store/store.h"

namespace edict::server {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 2;
constexpr std::int64_t kRejectedKept = 10000;

constexpr const char* kSqliteSchema = R"sql(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS features (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS streams (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, origin REAL, base REAL,
  about TEXT NOT NULL DEFAULT '{}', first REAL);
CREATE TABLE IF NOT EXISTS observations (
  stream INTEGER NOT NULL, time REAL NOT NULL, feature INTEGER NOT NULL, value REAL NOT NULL,
  received REAL NOT NULL, corrected INTEGER NOT NULL DEFAULT 0, prior REAL,
  PRIMARY KEY (stream, time, feature)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS states (
  stream INTEGER NOT NULL, time REAL NOT NULL, model INTEGER NOT NULL, first REAL NOT NULL,
  events INTEGER NOT NULL, bytes BLOB NOT NULL, received REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, time)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS alarms (
  id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, rule TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS audit (
  id INTEGER PRIMARY KEY, at REAL NOT NULL, what TEXT NOT NULL, who TEXT NOT NULL,
  stream TEXT NOT NULL, detail TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rejected (
  id INTEGER PRIMARY KEY, at REAL NOT NULL, source TEXT NOT NULL, detail TEXT NOT NULL,
  payload BLOB NOT NULL);
)sql";

// What was received by when is not known of the states of format 1: as if all of it came now.
constexpr const char* kFromFormat1 = R"sql(
BEGIN IMMEDIATE;
ALTER TABLE streams ADD COLUMN first REAL;
ALTER TABLE observations ADD COLUMN prior REAL;
ALTER TABLE states ADD COLUMN received REAL NOT NULL DEFAULT 0;
UPDATE states SET received = strftime('%s', 'now');
UPDATE streams SET first = (SELECT first FROM states WHERE stream = streams.id
  ORDER BY time LIMIT 1) WHERE base IS NOT NULL;
UPDATE meta SET value = '2' WHERE key = 'format';
COMMIT;
)sql";

class SqliteStore final : public Store {
 public:
  SqliteStore(std::shared_ptr<SqliteFile> file, StoreOptions options)
      : options_(options), db_(std::move(file)) {
    db_.run("PRAGMA journal_mode=WAL");
    db_.run("PRAGMA synchronous=FULL");
    db_.run("PRAGMA cache_size=-16384");
    db_.run("PRAGMA journal_size_limit=67108864");
    if (options_.limit_megabytes > 0)
      db_.run(fmt::format("PRAGMA max_page_count={}",
                          std::max<std::uint64_t>(64, options_.limit_megabytes * 256))
                  .c_str());
    db_.run(kSqliteSchema);
    check_format();
  }

  std::unique_ptr<Store> another() const override {
    return std::make_unique<SqliteStore>(db_.file(), options_);
  }

  void begin() override {
    db_.file()->check();
    statement("BEGIN IMMEDIATE").with().run();
  }
  void commit() override {
    try {
      statement("COMMIT").with().run();
    } catch (...) {
      rollback();
      throw;
    }
  }
  void rollback() noexcept override {
    // Where a failure has ended the transaction already there is nothing to undo.
    if (sqlite3_get_autocommit(db_.get()) == 0)
      sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  std::string damage() const override { return db_.file()->damage(); }

  std::vector<std::string> features() override {
    std::vector<std::string> names;
    SqliteStatement& row = statement("SELECT name FROM features ORDER BY id").with();
    while (row.step()) names.push_back(row.text(0));
    return names;
  }
  std::vector<std::int32_t> feature_numbers(std::span<const std::string> names) override {
    std::vector<std::int32_t> numbers;
    for (const std::string& name : names) {
      statement("INSERT OR IGNORE INTO features (name) VALUES (?)").with(name).run();
      SqliteStatement& found = statement("SELECT id FROM features WHERE name = ?").with(name);
      found.step();
      numbers.push_back(static_cast<std::int32_t>(found.whole(0)));
      found.end();
    }
    return numbers;
  }

  void each_stream(const std::function<void(KeptStream&&)>& sink) override {
    SqliteStatement& row =
        statement("SELECT id, name, origin, base, about, first FROM streams").with();
    while (row.step()) {
      KeptStream stream;
      stream.id = row.whole(0);
      stream.name = row.text(1);
      if (!row.is_null(2)) stream.origin = row.number(2);
      if (!row.is_null(3)) stream.base = row.number(3);
      stream.about = row.text(4);
      if (!row.is_null(5)) stream.first = row.number(5);
      sink(std::move(stream));
    }
  }
  std::int64_t add_stream(const std::string& name, double origin) override {
    statement("INSERT INTO streams (name, origin) VALUES (?, ?)").with(name, origin).run();
    return static_cast<std::int64_t>(sqlite3_last_insert_rowid(db_.get()));
  }
  void change_stream(const KeptStream& stream) override {
    const double base = std::isfinite(stream.base) ? stream.base : std::nan("");
    statement("UPDATE streams SET origin = ?, base = ?, about = ?, first = ? WHERE id = ?")
        .with(stream.origin, base, stream.about, stream.first, stream.id)
        .run();
  }
  void remove_stream(std::int64_t stream) override {
    statement("DELETE FROM observations WHERE stream = ?").with(stream).run();
    statement("DELETE FROM states WHERE stream = ?").with(stream).run();
    statement("DELETE FROM alarms WHERE stream = ?").with(stream).run();
    statement("DELETE FROM streams WHERE id = ?").with(stream).run();
  }

  void put(std::span<const KeptValue> values, std::span<Put> outcomes) override {
    SqliteStatement& insert = statement(
        "INSERT OR IGNORE INTO observations (stream, time, feature, value, received) "
        "VALUES (?, ?, ?, ?, ?)");
    SqliteStatement& correct = statement(
        "UPDATE observations SET prior = value, value = ?, received = ?, "
        "corrected = corrected + 1 WHERE stream = ? AND time = ? AND feature = ? AND value <> ?");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const KeptValue& v = values[i];
      insert.with(v.stream, v.time, v.feature, v.value, v.received).run();
      if (db_.changes() > 0) {
        outcomes[i] = Put::inserted;
        continue;
      }
      correct.with(v.value, v.received, v.stream, v.time, v.feature, v.value).run();
      outcomes[i] = db_.changes() > 0 ? Put::corrected : Put::unchanged;
    }
  }
  std::vector<KeptValue> values(std::int64_t stream, double after, double until,
                                std::size_t limit) override {
    SqliteStatement& row = statement(
                               "SELECT time, feature, value, received, corrected FROM observations "
                               "WHERE stream = ? AND time > ? AND time <= ? ORDER BY time, feature "
                               "LIMIT ?")
                               .with(stream, after, until, static_cast<std::int64_t>(limit));
    return rows(row, stream);
  }
  std::vector<KeptValue> newest_values(std::int64_t stream, double until,
                                       std::size_t limit) override {
    SqliteStatement& row =
        statement(
            "SELECT time, feature, value, received, corrected FROM observations "
            "WHERE stream = ? AND time <= ? ORDER BY time DESC, feature DESC LIMIT ?")
            .with(stream, until, static_cast<std::int64_t>(limit));
    return rows(row, stream);
  }
  void remove_values(std::int64_t stream, double until) override {
    statement("DELETE FROM observations WHERE stream = ? AND time <= ?").with(stream, until).run();
  }
  std::size_t remove_range(std::int64_t stream, double from, double until,
                           std::span<const std::int32_t> features) override {
    if (features.empty()) {
      statement("DELETE FROM observations WHERE stream = ? AND time >= ? AND time <= ?")
          .with(stream, from, until)
          .run();
      return db_.changes();
    }
    std::size_t count = 0;
    for (const std::int32_t feature : features) {
      statement(
          "DELETE FROM observations WHERE stream = ? AND time >= ? AND time <= ? AND feature = ?")
          .with(stream, from, until, feature)
          .run();
      count += db_.changes();
    }
    return count;
  }
  bool take_back(std::int64_t stream, double time, std::int32_t feature, double value) override {
    statement(
        "UPDATE observations SET value = prior, prior = NULL, corrected = corrected - 1 "
        "WHERE stream = ? AND time = ? AND feature = ? AND value = ? AND prior IS NOT NULL")
        .with(stream, time, feature, value)
        .run();
    if (db_.changes() > 0) return true;
    statement(
        "DELETE FROM observations WHERE stream = ? AND time = ? AND feature = ? AND value = ?")
        .with(stream, time, feature, value)
        .run();
    statement(
        "UPDATE observations SET prior = NULL, corrected = corrected - 1 "
        "WHERE stream = ? AND time = ? AND feature = ? AND prior = ?")
        .with(stream, time, feature, value)
        .run();
    return false;
  }

  void put_state(std::int64_t stream, std::uint64_t model, const KeptState& state) override {
    statement(
        "INSERT OR REPLACE INTO states (stream, time, model, first, events, bytes, received) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)")
        .with(stream, state.time, model, state.first, state.events, state.bytes, state.received)
        .run();
  }
  std::optional<KeptState> newest_state(std::int64_t stream, std::uint64_t model,
                                        double before) override {
    SqliteStatement& row =
        statement(
            "SELECT time, first, events, received, bytes FROM states WHERE stream = ? AND "
            "model = ? AND time < ? ORDER BY time DESC LIMIT 1")
            .with(stream, model, before);
    if (!row.step()) return {};
    KeptState state{row.number(0), row.number(1), row.whole(2), row.number(3), row.bytes(4)};
    row.end();
    return state;
  }
  std::vector<KeptState> states(std::int64_t stream, std::uint64_t model) override {
    SqliteStatement& row =
        statement(
            "SELECT time, first, events, received FROM states WHERE stream = ? AND "
            "model = ? ORDER BY time")
            .with(stream, model);
    std::vector<KeptState> list;
    while (row.step())
      list.push_back({row.number(0), row.number(1), row.whole(2), row.number(3), {}});
    return list;
  }
  std::size_t cut_off(std::uint64_t model) override {
    SqliteStatement& row = statement(
                               "SELECT count(*) FROM streams WHERE base IS NOT NULL AND NOT EXISTS "
                               "(SELECT 1 FROM states WHERE stream = streams.id AND model = ?)")
                               .with(model);
    row.step();
    const auto count = static_cast<std::size_t>(row.whole(0));
    row.end();
    return count;
  }
  void remove_states(std::int64_t stream, double from, double before) override {
    statement("DELETE FROM states WHERE stream = ? AND time >= ? AND time < ?")
        .with(stream, from, before)
        .run();
  }

  void each_alarm(const std::function<void(KeptAlarm&&)>& sink) override {
    SqliteStatement& row =
        statement("SELECT id, stream, rule, body FROM alarms ORDER BY id").with();
    while (row.step()) sink({row.whole(0), row.whole(1), row.text(2), row.text(3)});
  }
  void put_alarm(const KeptAlarm& alarm) override {
    statement("INSERT OR REPLACE INTO alarms (id, stream, rule, body) VALUES (?, ?, ?, ?)")
        .with(alarm.id, alarm.stream, alarm.rule, alarm.body)
        .run();
  }
  void remove_alarm(std::int64_t id) override {
    statement("DELETE FROM alarms WHERE id = ?").with(id).run();
  }

  void add_audit(const AuditLine& line) override {
    statement("INSERT INTO audit (at, what, who, stream, detail) VALUES (?, ?, ?, ?, ?)")
        .with(line.at, line.what, line.who, line.stream, line.detail)
        .run();
  }
  std::vector<AuditLine> audit(std::size_t newest) override {
    SqliteStatement& row =
        statement("SELECT at, what, who, stream, detail FROM audit ORDER BY id DESC LIMIT ?")
            .with(static_cast<std::int64_t>(newest));
    std::vector<AuditLine> lines;
    while (row.step())
      lines.push_back({row.number(0), row.text(1), row.text(2), row.text(3), row.text(4)});
    return lines;
  }
  void add_rejected(const RejectedLine& line) override {
    statement("INSERT INTO rejected (at, source, detail, payload) VALUES (?, ?, ?, ?)")
        .with(line.at, line.source, line.detail, line.payload)
        .run();
    statement("DELETE FROM rejected WHERE id <= ?")
        .with(static_cast<std::int64_t>(sqlite3_last_insert_rowid(db_.get())) - kRejectedKept)
        .run();
  }
  std::vector<RejectedLine> rejected(std::size_t newest) override {
    SqliteStatement& row =
        statement("SELECT at, source, detail, payload FROM rejected ORDER BY id DESC LIMIT ?")
            .with(static_cast<std::int64_t>(newest));
    std::vector<RejectedLine> lines;
    while (row.step()) lines.push_back({row.number(0), row.text(1), row.text(2), row.text(3)});
    return lines;
  }

  std::optional<std::string> meta(const std::string& key) override {
    SqliteStatement& row = statement("SELECT value FROM meta WHERE key = ?").with(key);
    if (!row.step()) return {};
    std::string value = row.text(0);
    row.end();
    return value;
  }
  void set_meta(const std::string& key, const std::string& value) override {
    statement("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").with(key, value).run();
  }

  void backup(const std::string& path) override {
    if (path.empty() || std::ranges::any_of(path, [](unsigned char c) { return c < ' '; }))
      throw Error("the name of a backup is empty or holds a control character; give a file's path");
    if (fs::exists(fs::symlink_status(path)))
      throw Error(fmt::format("{}: is there already; give a file that is not", path));
    // Under another name first, so that a backup is whole or not there.
    const std::string part = make_part_of(path);
    const std::shared_ptr<void> removed(nullptr, [&](void*) { ::unlink(part.c_str()); });
    statement("VACUUM INTO ?").with(part).run();
    // A link never replaces what has come meanwhile.
    if (::link(part.c_str(), path.c_str()) != 0) {
      if (errno == EEXIST)
        throw Error(fmt::format("{}: is there already; give a file that is not", path));
      fs::rename(part, path);
    }
    sync_folder(fs::path(path).parent_path());
  }
  void tidy() override {
    // Truncating waits for readers, such as a backup; what comes meanwhile must not.
    sqlite3_busy_timeout(db_.get(), 0);
    sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_busy_timeout(db_.get(), kBusyMilliseconds);
  }
  std::uint64_t bytes() override {
    std::error_code ignored;
    std::uint64_t total = 0;
    for (const char* end : {"", "-wal"}) {
      const auto size = fs::file_size(db_.file()->path() + end, ignored);
      if (!ignored) total += size;
    }
    return total;
  }

 private:
  SqliteStatement& statement(const char* sql) { return db_.statement(sql); }
  void check_format() {
    std::optional<std::string> format = meta("format");
    if (format == "1") {
      try {
        db_.run(kFromFormat1);
      } catch (...) {
        rollback();
        throw;
      }
      format = meta("format");
    }
    if (!format)
      set_meta("format", std::to_string(kFormat));
    else if (*format != std::to_string(kFormat))
      throw Error(
          fmt::format("{}: written by another version of edict (format {}, here {}); give "
                      "another --store",
                      db_.file()->path(), *format, kFormat));
    db_.file()->set_begun();
  }
  static std::vector<KeptValue> rows(SqliteStatement& row, std::int64_t stream) {
    std::vector<KeptValue> result;
    while (row.step())
      result.push_back({stream, row.number(0), static_cast<std::int32_t>(row.whole(1)),
                        row.number(2), row.number(3), row.whole(4) > 0});
    return result;
  }

  StoreOptions options_;
  SqliteConnection db_;
};

}  // namespace

std::unique_ptr<Store> open_sqlite(const std::string& path, const StoreOptions& options,
                                   std::vector<std::string>& notices) {
  return std::make_unique<SqliteStore>(open_sqlite_file(path, notices), options);
}

}  // namespace edict::server
