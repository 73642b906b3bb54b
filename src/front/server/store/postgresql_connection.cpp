#include "front/server/store/postgresql_connection.h"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/text/number_text.h"
#include "front/server/http/masked_uri.h"

namespace edict::server {
namespace {

using Clock = PostgresqlPatience::Clock;

constexpr std::chrono::seconds kPause(2);  // after silence, until somebody tries again
constexpr int kMostSilences = 60;          // of one statement, while others are answered

// Whether something can be read, or written where that is wanted, before the end.
bool is_ready(int socket, bool to_write, std::chrono::milliseconds most) {
  pollfd one{socket, static_cast<short>(POLLIN | (to_write ? POLLOUT : 0)), 0};
  const Clock::time_point end = Clock::now() + most;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() < 0) return false;
    const int count = poll(&one, 1, static_cast<int>(left.count()) + 1);
    if (count > 0 || (count < 0 && errno != EINTR)) return true;
  }
}

double in_seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

// ---- what goes in and comes back ----

PostgresqlArgument::PostgresqlArgument(double value) : null(std::isnan(value)) {
  if (std::isinf(value))
    text = value > 0 ? "Infinity" : "-Infinity";
  else if (!null)
    append_shortest(text, value);
}

PostgresqlArgument::PostgresqlArgument(std::span<const std::byte> bytes) : text("\\x") {
  for (const std::byte b : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
  }
}

void PostgresqlRows::Clear::operator()(pg_result* result) const { PQclear(result); }

bool PostgresqlRows::good() const {
  const ExecStatusType status = PQresultStatus(result_.get());
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

int PostgresqlRows::size() const { return PQntuples(result_.get()); }

std::size_t PostgresqlRows::changed() const {
  return static_cast<std::size_t>(std::strtoull(PQcmdTuples(result_.get()), nullptr, 10));
}

bool PostgresqlRows::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string PostgresqlRows::text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

double PostgresqlRows::number(int row, int column) const {
  return std::strtod(PQgetvalue(result_.get(), row, column), nullptr);
}

std::int64_t PostgresqlRows::whole(int row, int column) const {
  return std::strtoll(PQgetvalue(result_.get(), row, column), nullptr, 10);
}

std::string PostgresqlRows::bytes(int row, int column) const {
  std::size_t size = 0;
  unsigned char* raw = PQunescapeBytea(
      reinterpret_cast<const unsigned char*>(PQgetvalue(result_.get(), row, column)), &size);
  std::string result(reinterpret_cast<const char*>(raw), size);
  PQfreemem(raw);
  return result;
}

// ---- the connection ----

void PostgresqlConnection::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }

bool PostgresqlConnection::is_open() const {
  return connection_ && PQstatus(connection_.get()) == CONNECTION_OK;
}

void PostgresqlConnection::open() {
  if (Clock::now() < patience_->silent_until.load())
    throw MachineError("the store: the database does not answer");
  start();
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  PQsetnonblocking(connection_.get(), 1);
}

void PostgresqlConnection::start() {
  connection_.reset(PQconnectStart(uri_.c_str()));
  if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) fail("no connection");
  const Clock::time_point end = Clock::now() + patience_->most.load();
  for (PostgresPollingStatusType state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;
       state = PQconnectPoll(connection_.get())) {
    if (state == PGRES_POLLING_FAILED) fail("no connection");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd one{PQsocket(connection_.get()),
               static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
    if (left.count() <= 0 || poll(&one, 1, static_cast<int>(left.count())) == 0) give_up();
  }
}

PostgresqlRows PostgresqlConnection::execute(const char* sql,
                                             const std::vector<PostgresqlArgument>& arguments) {
  if (!connection_) fail("no connection");
  std::vector<const char*> list;
  for (const PostgresqlArgument& argument : arguments)
    list.push_back(argument.null ? nullptr : argument.text.c_str());
  if (PQsendQueryParams(connection_.get(), sql, static_cast<int>(list.size()), nullptr, list.data(),
                        nullptr, nullptr, 0) == 0)
    fail("a statement failed");
  PostgresqlRows rows = result();
  if (!rows.good()) fail("a statement failed");
  return rows;
}

void PostgresqlConnection::command(const char* sql) {
  if (!connection_) fail("no connection");
  if (PQsendQuery(connection_.get(), sql) == 0 || !result().good()) fail("a command failed");
}

// The last one, or the first that is a failure.
PostgresqlRows PostgresqlConnection::result() {
  for (int left = 1; left != 0;) {
    left = PQflush(connection_.get());
    if (left < 0) fail("a statement failed");
    if (left > 0) wait(true);
  }
  PostgresqlRows kept(nullptr);
  for (bool failed = false;;) {
    while (PQisBusy(connection_.get()) != 0) wait(false);
    pg_result* const next = PQgetResult(connection_.get());
    if (!next) return kept;
    PostgresqlRows own(next);
    if (failed) continue;
    failed = !own.good();
    kept = std::move(own);
  }
}

void PostgresqlConnection::wait(bool to_write) {
  const int socket = PQsocket(connection_.get());
  for (int silences = 0; !is_ready(socket, to_write, patience_->most.load()); ++silences)
    if (silences == kMostSilences || !is_answered_elsewhere()) give_up();
  if (PQconsumeInput(connection_.get()) == 0) fail("a statement failed");
}

// Whether the database lives, and only this statement takes long.
bool PostgresqlConnection::is_answered_elsewhere() const {
  try {
    PostgresqlConnection other(uri_, patience_);
    other.open();
    other.execute("SELECT 1", {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

void PostgresqlConnection::give_up() {
  close();
  patience_->silent_until = Clock::now() + kPause;
  throw MachineError(fmt::format("the store: the database has not answered for {:.3g} s",
                                 in_seconds(patience_->most.load())));
}

void PostgresqlConnection::fail(const std::string& what) const {
  std::string why = connection_ ? PQerrorMessage(connection_.get()) : "it was lost";
  while (!why.empty() && why.back() == '\n') why.pop_back();
  // What libpq cannot parse it repeats, with its password.
  if (const std::size_t at = why.find(uri_); at != std::string::npos)
    why.replace(at, uri_.size(), masked_uri(uri_));
  throw Error(fmt::format("the store: {}: {}", what, why));
}

}  // namespace edict::server
