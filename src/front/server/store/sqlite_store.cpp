// One file. WAL mode lets shards read while the writer writes; synchronous=FULL makes a commit wait
// for the disk, which is what an answer to a client promises.
#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "front/server/store/store.h"

namespace edict::server {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 2;
constexpr std::int64_t kRejectedKept = 10000;
constexpr int kBusyMilliseconds = 10000;

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

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// Keeps a second server from the same file as long as somebody holds it.
class FileLock {
 public:
  explicit FileLock(const std::string& path) {
    const std::string name = path + ".lock";
    descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0) {
      const int error = errno;
      throw_system_error(error, fmt::format("{}: {}; choose a folder that can be written to", name,
                                            std::strerror(error)));
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      throw Error(
          fmt::format("{}: another server works on it; stop that one, or give another "
                      "--store",
                      path));
    }
  }
  ~FileLock() { ::close(descriptor_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

[[noreturn]] void fail(sqlite3* db, const std::string& what) {
  const int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
  const char* why = db ? sqlite3_errmsg(db) : "out of memory";
  const int kind = code & 0xff;
  const std::string text =
      fmt::format("the store: {}: {}{}", what, why,
                  kind == SQLITE_FULL ? "; make room on the disk, or raise --store-limit" : "");
  if (kind == SQLITE_FULL || kind == SQLITE_IOERR || kind == SQLITE_NOMEM || kind == SQLITE_CORRUPT)
    throw MachineError(text);
  // Of a file beside it. Where it cannot be opened for writing SQLite tries to open it for reading,
  // and tells why that failed, which may be that it is not there yet.
  if (kind == SQLITE_CANTOPEN && sqlite3_system_errno(db) == ENOENT) throw MachineError(text);
  if (kind == SQLITE_CANTOPEN) throw_system_error(sqlite3_system_errno(db), text);
  throw Error(text);
}

void run(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(db, "a command failed");
}

// A prepared statement, bound in order, and stepped.
class Statement {
 public:
  Statement(sqlite3* db, const char* sql) : db_(db) {
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) !=
        SQLITE_OK)
      fail(db, "a statement was not understood");
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class... Values>
  Statement& with(const Values&... values) {
    sqlite3_reset(statement_);
    int at = 0;
    (bind(++at, values), ...);
    return *this;
  }
  // Whether there is a row; without one the statement is over.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) {
      // The message belongs to the connection, and resetting keeps it.
      sqlite3_reset(statement_);
      fail(db_, "writing or reading failed");
    }
    sqlite3_reset(statement_);
    return false;
  }
  void run() {
    while (step()) {
    }
  }
  void end() { sqlite3_reset(statement_); }

  std::int64_t whole(int column) const { return sqlite3_column_int64(statement_, column); }
  double number(int column) const { return sqlite3_column_double(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes ? std::string(bytes, size) : std::string();
  }
  std::vector<std::byte> bytes(int column) const {
    const auto* from = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return from ? std::vector<std::byte>(from, from + size) : std::vector<std::byte>();
  }

 private:
  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  void bind(int at, std::int32_t value) { sqlite3_bind_int64(statement_, at, value); }
  void bind(int at, std::uint64_t value) {
    sqlite3_bind_int64(statement_, at, std::bit_cast<std::int64_t>(value));
  }
  // Not a number is stored as NULL.
  void bind(int at, double value) { sqlite3_bind_double(statement_, at, value); }
  void bind(int at, const std::string& value) {
    sqlite3_bind_text64(statement_, at, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  void bind(int at, const std::vector<std::byte>& value) {
    sqlite3_bind_blob64(statement_, at, value.data(), value.size(), SQLITE_STATIC);
  }

  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
};

// Makes a file that other users of this machine cannot read, where there is none yet. SQLite gives
// its mode to what it keeps beside it.
void make_private(const std::string& path) {
  struct stat now {};
  if (::stat(path.c_str(), &now) == 0) {
    // Made by an earlier version. What a group may do was set on purpose.
    if ((now.st_mode & 07) != 0) ::chmod(path.c_str(), now.st_mode & 0770);
    return;
  }
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    const int error = errno;
    throw_system_error(error, fmt::format("{}: {}; give a file in a folder that can be written to",
                                          path, std::strerror(error)));
  }
  ::close(descriptor);
}

Database open_file(const std::string& path) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &opened,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  Database db(opened);
  if (code != SQLITE_OK) {
    const std::string why = opened ? sqlite3_errmsg(opened) : "out of memory";
    const int system = opened ? sqlite3_system_errno(opened) : ENOMEM;
    throw_system_error(
        system, fmt::format("{}: {}; give a file in a folder that can be written to", path, why));
  }
  sqlite3_busy_timeout(db.get(), kBusyMilliseconds);
  return db;
}

bool is_damage(int code) {
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

// Empty where the file is sound, or new. Throws Error where it could not be read: a disk or a
// memory that fails says nothing about the file.
std::string damage_of(const std::string& path) {
  const Database db = open_file(path);
  const auto told = [&] {
    if (!is_damage(sqlite3_errcode(db.get()))) fail(db.get(), "it cannot be checked");
    return std::string(sqlite3_errmsg(db.get()));
  };
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db.get(), "PRAGMA quick_check(1)", -1, &statement, nullptr) != SQLITE_OK)
    return told();
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owned(statement, sqlite3_finalize);
  const int code = sqlite3_step(statement);
  if (code == SQLITE_DONE) return "";
  if (code != SQLITE_ROW) return told();
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  if (!text) return told();
  // A page that could not be read is told as damage, with the code of what kept it from being read.
  constexpr const char* kUnread = "error code=";
  const char* const unread = std::strstr(text, kUnread);
  if (unread && !is_damage(std::atoi(unread + std::strlen(kUnread))))
    throw MachineError(
        fmt::format("the store: {}: it cannot be checked: a page cannot be read", path));
  return std::string_view(text) == "ok" ? "" : text;
}

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, StoreOptions options, std::shared_ptr<FileLock> lock)
      : path_(std::move(path)), options_(options), lock_(std::move(lock)), db_(open_file(path_)) {
    run(db_.get(), "PRAGMA journal_mode=WAL");
    run(db_.get(), "PRAGMA synchronous=FULL");
    run(db_.get(), "PRAGMA cache_size=-16384");
    run(db_.get(), "PRAGMA journal_size_limit=67108864");
    if (options_.limit_megabytes > 0)
      run(db_.get(), fmt::format("PRAGMA max_page_count={}",
                                 std::max<std::uint64_t>(64, options_.limit_megabytes * 256))
                         .c_str());
    run(db_.get(), kSqliteSchema);
    std::optional<std::string> format = meta("format");
    if (format == "1") {
      try {
        run(db_.get(), kFromFormat1);
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
                      path_, *format, kFormat));
    ::stat(path_.c_str(), &file_);
  }

  std::unique_ptr<Store> another() const override {
    return std::make_unique<SqliteStore>(path_, options_, lock_);
  }

  void begin() override {
    check_file();
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

  std::vector<std::string> features() override {
    std::vector<std::string> names;
    Statement& row = statement("SELECT name FROM features ORDER BY id").with();
    while (row.step()) names.push_back(row.text(0));
    return names;
  }
  std::vector<std::int32_t> feature_numbers(std::span<const std::string> names) override {
    std::vector<std::int32_t> numbers;
    for (const std::string& name : names) {
      statement("INSERT OR IGNORE INTO features (name) VALUES (?)").with(name).run();
      Statement& found = statement("SELECT id FROM features WHERE name = ?").with(name);
      found.step();
      numbers.push_back(static_cast<std::int32_t>(found.whole(0)));
      found.end();
    }
    return numbers;
  }

  void each_stream(const std::function<void(KeptStream&&)>& sink) override {
    Statement& row = statement("SELECT id, name, origin, base, about, first FROM streams").with();
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
    Statement& insert = statement(
        "INSERT OR IGNORE INTO observations (stream, time, feature, value, received) "
        "VALUES (?, ?, ?, ?, ?)");
    Statement& correct = statement(
        "UPDATE observations SET prior = value, value = ?, received = ?, "
        "corrected = corrected + 1 WHERE stream = ? AND time = ? AND feature = ? AND value <> ?");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const KeptValue& v = values[i];
      insert.with(v.stream, v.time, v.feature, v.value, v.received).run();
      if (sqlite3_changes(db_.get()) > 0) {
        outcomes[i] = Put::inserted;
        continue;
      }
      correct.with(v.value, v.received, v.stream, v.time, v.feature, v.value).run();
      outcomes[i] = sqlite3_changes(db_.get()) > 0 ? Put::corrected : Put::unchanged;
    }
  }
  std::vector<KeptValue> values(std::int64_t stream, double after, double until,
                                std::size_t limit) override {
    Statement& row = statement(
                         "SELECT time, feature, value, received, corrected FROM observations "
                         "WHERE stream = ? AND time > ? AND time <= ? ORDER BY time, feature "
                         "LIMIT ?")
                         .with(stream, after, until, static_cast<std::int64_t>(limit));
    return rows(row, stream);
  }
  std::vector<KeptValue> newest_values(std::int64_t stream, double until,
                                       std::size_t limit) override {
    Statement& row = statement(
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
    const auto removed = [&] { return static_cast<std::size_t>(sqlite3_changes(db_.get())); };
    if (features.empty()) {
      statement("DELETE FROM observations WHERE stream = ? AND time >= ? AND time <= ?")
          .with(stream, from, until)
          .run();
      return removed();
    }
    std::size_t count = 0;
    for (const std::int32_t feature : features) {
      statement(
          "DELETE FROM observations WHERE stream = ? AND time >= ? AND time <= ? AND feature = ?")
          .with(stream, from, until, feature)
          .run();
      count += removed();
    }
    return count;
  }
  bool take_back(std::int64_t stream, double time, std::int32_t feature, double value) override {
    statement(
        "UPDATE observations SET value = prior, prior = NULL, corrected = corrected - 1 "
        "WHERE stream = ? AND time = ? AND feature = ? AND value = ? AND prior IS NOT NULL")
        .with(stream, time, feature, value)
        .run();
    if (sqlite3_changes(db_.get()) > 0) return true;
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
    Statement& row =
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
    Statement& row = statement(
                         "SELECT time, first, events, received FROM states WHERE stream = ? AND "
                         "model = ? ORDER BY time")
                         .with(stream, model);
    std::vector<KeptState> list;
    while (row.step())
      list.push_back({row.number(0), row.number(1), row.whole(2), row.number(3), {}});
    return list;
  }
  std::size_t cut_off(std::uint64_t model) override {
    Statement& row = statement(
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
    Statement& row = statement("SELECT id, stream, rule, body FROM alarms ORDER BY id").with();
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
    Statement& row =
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
    Statement& row =
        statement("SELECT at, source, detail, payload FROM rejected ORDER BY id DESC LIMIT ?")
            .with(static_cast<std::int64_t>(newest));
    std::vector<RejectedLine> lines;
    while (row.step()) lines.push_back({row.number(0), row.text(1), row.text(2), row.text(3)});
    return lines;
  }

  std::optional<std::string> meta(const std::string& key) override {
    Statement& row = statement("SELECT value FROM meta WHERE key = ?").with(key);
    if (!row.step()) return {};
    std::string value = row.text(0);
    row.end();
    return value;
  }
  void set_meta(const std::string& key, const std::string& value) override {
    statement("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").with(key, value).run();
  }

  void backup(const std::string& path) override {
    if (fs::exists(path))
      throw Error(fmt::format("{}: is there already; give a file that is not", path));
    // Under another name first, so that a backup is whole or not there.
    const std::string part = path + ".part";
    std::error_code ignored;
    fs::remove(part, ignored);
    make_private(part);
    statement("VACUUM INTO ?").with(part).run();
    fs::rename(part, path);
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
      const auto size = fs::file_size(path_ + end, ignored);
      if (!ignored) total += size;
    }
    return total;
  }

 private:
  // By the address of its text, which is a literal.
  Statement& statement(const char* sql) {
    std::unique_ptr<Statement>& kept = statements_[sql];
    if (!kept) kept = std::make_unique<Statement>(db_.get(), sql);
    return *kept;
  }
  // What is written into a file that was removed, replaced or emptied is lost with the next start.
  void check_file() {
    struct stat now {};
    if (::stat(path_.c_str(), &now) != 0 || now.st_dev != file_.st_dev ||
        now.st_ino != file_.st_ino || now.st_size < file_.st_size)
      throw MachineError(
          fmt::format("the store: {} was removed, replaced or emptied while the server ran; stop "
                      "the server, put the file back, and start it again",
                      path_));
    file_.st_size = now.st_size;
  }
  static std::vector<KeptValue> rows(Statement& row, std::int64_t stream) {
    std::vector<KeptValue> result;
    while (row.step())
      result.push_back({stream, row.number(0), static_cast<std::int32_t>(row.whole(1)),
                        row.number(2), row.number(3), row.whole(4) > 0});
    return result;
  }

  std::string path_;
  StoreOptions options_;
  std::shared_ptr<FileLock> lock_;
  Database db_;
  struct stat file_ {};
  std::map<const char*, std::unique_ptr<Statement>> statements_;  // closed before the database
};

}  // namespace

std::unique_ptr<Store> open_sqlite(const std::string& path, const StoreOptions& options,
                                   std::vector<std::string>& notices) {
  auto lock = std::make_shared<FileLock>(path);
  // Before SQLite opens it: closing a file gives up every lock that the process has on it.
  for (const char* end : {"-wal", "-shm"})
    if (fs::exists(path + end)) make_private(path + end);
  make_private(path);
  const std::string damage = damage_of(path);
  if (!damage.empty()) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    const std::string aside = fmt::format("{}.damaged-{}", path, now);
    for (const char* end : {"", "-wal", "-shm"})
      if (fs::exists(path + end)) fs::rename(path + end, aside + end);
    notices.push_back(fmt::format("{} is damaged ({}); it was kept as {}, and an empty one begun",
                                  path, damage, aside));
    make_private(path);
  }
  return std::make_unique<SqliteStore>(path, options, std::move(lock));
}

std::unique_ptr<Store> open_store(const std::string& where, const StoreOptions& options,
                                  std::vector<std::string>& notices) {
  if (where.starts_with("postgresql://") || where.starts_with("postgres://"))
    return open_postgresql(where);
  return open_sqlite(where, options, notices);
}

}  // namespace edict::server
