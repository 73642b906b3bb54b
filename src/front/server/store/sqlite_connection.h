// A connection to an SQLite file, its statements, and what its failures are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "front/server/store/sqlite_file.h"

struct sqlite3;
struct sqlite3_stmt;

namespace edict::server {

struct CloseDatabase {
  void operator()(sqlite3* db) const;
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

inline constexpr int kBusyMilliseconds = 10000;

// For reading and writing; made where it is not there. Throws Error.
Database open_database(const std::string& path);
[[noreturn]] void fail_sqlite(sqlite3* db, const std::string& what);
// Whether an error code of SQLite says that the file is not as SQLite wrote it.
bool is_damage(int code);

// A prepared statement, bound in order, and stepped.
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* db, SqliteFile& file, const char* sql);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  template <class... Values>
  SqliteStatement& with(const Values&... values) {
    end();
    int at = 0;
    (bind(++at, values), ...);
    return *this;
  }
  // Whether there is a row; without one the statement is over.
  bool step();
  void run() {
    while (step()) {
    }
  }
  void end();

  std::int64_t whole(int column) const;
  double number(int column) const;
  bool is_null(int column) const;
  std::string text(int column) const;
  std::vector<std::byte> bytes(int column) const;

 private:
  void bind(int at, std::int64_t value);
  void bind(int at, std::int32_t value) { bind(at, static_cast<std::int64_t>(value)); }
  void bind(int at, std::uint64_t value);
  void bind(int at, double value);  // not a number is stored as NULL
  void bind(int at, const std::string& value);
  void bind(int at, const std::vector<std::byte>& value);

  sqlite3* db_;
  SqliteFile& file_;
  sqlite3_stmt* statement_ = nullptr;
};

class SqliteConnection {
 public:
  explicit SqliteConnection(std::shared_ptr<SqliteFile> file)
      : file_(std::move(file)), db_(open_database(file_->path())) {}

  const std::shared_ptr<SqliteFile>& file() const { return file_; }
  sqlite3* get() const { return db_.get(); }
  // By the address of its text, which is a literal.
  SqliteStatement& statement(const char* sql);
  void run(const char* sql);
  std::size_t changes() const;  // rows of the last statement that wrote

 private:
  std::shared_ptr<SqliteFile> file_;
  Database db_;
  std::map<const char*, std::unique_ptr<SqliteStatement>>
      statements_;  // closed before the database
};

}  // namespace edict::server
