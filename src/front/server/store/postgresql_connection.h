// A connection to PostgreSQL. A database that is silent fails a statement instead of holding it up
// for ever: after some seconds another connection is tried, and where that one gets no answer
// either, no thread waits any longer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct pg_conn;
struct pg_result;

namespace edict::server {

// What the connections of one store share.
struct PostgresqlPatience {
  using Clock = std::chrono::steady_clock;

  std::atomic<std::chrono::milliseconds> most;  // of silence
  // Until then no thread tries again to connect, so that requests that wait fail together.
  std::atomic<Clock::time_point> silent_until{Clock::time_point{}};
};

// An argument as text, or NULL.
struct PostgresqlArgument {
  PostgresqlArgument(double value);
  PostgresqlArgument(std::int64_t value) : text(std::to_string(value)) {}
  PostgresqlArgument(std::int32_t value) : text(std::to_string(value)) {}
  PostgresqlArgument(std::string value) : text(std::move(value)) {}
  PostgresqlArgument(std::span<const std::byte> bytes);

  std::string text;
  bool null = false;
};

class PostgresqlRows {
 public:
  explicit PostgresqlRows(pg_result* result) : result_(result) {}

  bool good() const;
  int size() const;
  std::size_t changed() const;  // rows that a command wrote
  bool is_null(int row, int column) const;
  std::string text(int row, int column) const;
  double number(int row, int column) const;
  std::int64_t whole(int row, int column) const;
  std::string bytes(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

class PostgresqlConnection {
 public:
  PostgresqlConnection(std::string uri, std::shared_ptr<PostgresqlPatience> patience)
      : uri_(std::move(uri)), patience_(std::move(patience)) {}

  const std::string& uri() const { return uri_; }
  const std::shared_ptr<PostgresqlPatience>& patience() const { return patience_; }
  bool is_open() const;
  void close() { connection_.reset(); }

  // Each throws Error.
  void open();
  PostgresqlRows execute(const char* sql, const std::vector<PostgresqlArgument>& arguments);
  void command(const char* sql);  // or several, of which nothing comes back

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };

  void start();
  PostgresqlRows result();
  void wait(bool to_write);
  bool is_answered_elsewhere() const;
  [[noreturn]] void give_up();
  [[noreturn]] void fail(const std::string& what) const;

  std::string uri_;
  std::shared_ptr<PostgresqlPatience> patience_;
  std::unique_ptr<pg_conn, Finish> connection_;
};

}  // namespace edict::server
