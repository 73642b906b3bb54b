#include "front/server/store/sqlite_connection.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <bit>
#include <cerrno>

#include "base/error.h"

namespace edict::server {

void CloseDatabase::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

bool is_damage(int code) {
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

void fail_sqlite(sqlite3* db, const std::string& what) {
  const int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
  const char* why = db ? sqlite3_errmsg(db) : "out of memory";
  const int kind = code & 0xff;
  const std::string text =
      fmt::format("the store: {}: {}{}", what, why,
                  kind == SQLITE_FULL ? "; free space on the disk, or raise --store-limit" : "");
  if (kind == SQLITE_FULL || kind == SQLITE_IOERR || kind == SQLITE_NOMEM || kind == SQLITE_CORRUPT)
    throw MachineError(text);
  // Of a file beside it. Where it cannot be opened for writing SQLite tries to open it for reading,
  // and tells why that failed, which may be that it is not there yet.
  if (kind == SQLITE_CANTOPEN && sqlite3_system_errno(db) == ENOENT) throw MachineError(text);
  if (kind == SQLITE_CANTOPEN) throw_system_error(sqlite3_system_errno(db), text);
  throw Error(text);
}

Database open_database(const std::string& path) {
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

// ---- a statement ----

SqliteStatement::SqliteStatement(sqlite3* db, SqliteFile& file, const char* sql)
    : db_(db), file_(file) {
  const int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code == SQLITE_OK) return;
  if (is_damage(code)) file_.note_damage(sqlite3_errmsg(db));
  fail_sqlite(db, "a statement cannot be prepared");
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  // The message belongs to the connection, and resetting keeps it.
  sqlite3_reset(statement_);
  if (code == SQLITE_DONE) return false;
  if (is_damage(code)) file_.note_damage(sqlite3_errmsg(db_));
  fail_sqlite(db_, "writing or reading failed");
}

void SqliteStatement::end() { sqlite3_reset(statement_); }

std::int64_t SqliteStatement::whole(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double SqliteStatement::number(int column) const {
  return sqlite3_column_double(statement_, column);
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string SqliteStatement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes ? std::string(bytes, size) : std::string();
}

std::vector<std::byte> SqliteStatement::bytes(int column) const {
  const auto* from = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return from ? std::vector<std::byte>(from, from + size) : std::vector<std::byte>();
}

void SqliteStatement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(statement_, at, value);
}

void SqliteStatement::bind(int at, std::uint64_t value) {
  sqlite3_bind_int64(statement_, at, std::bit_cast<std::int64_t>(value));
}

void SqliteStatement::bind(int at, double value) { sqlite3_bind_double(statement_, at, value); }

void SqliteStatement::bind(int at, const std::string& value) {
  sqlite3_bind_text64(statement_, at, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void SqliteStatement::bind(int at, const std::vector<std::byte>& value) {
  sqlite3_bind_blob64(statement_, at, value.data(), value.size(), SQLITE_STATIC);
}

// ---- a connection ----

SqliteStatement& SqliteConnection::statement(const char* sql) {
  std::unique_ptr<SqliteStatement>& kept = statements_[sql];
  if (!kept) kept = std::make_unique<SqliteStatement>(db_.get(), *file_, sql);
  return *kept;
}

void SqliteConnection::run(const char* sql) {
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return;
  if (is_damage(code)) file_->note_damage(sqlite3_errmsg(db_.get()));
  fail_sqlite(db_.get(), "a command failed");
}

std::size_t SqliteConnection::changes() const {
  return static_cast<std::size_t>(sqlite3_changes(db_.get()));
}

}  // namespace edict::server
