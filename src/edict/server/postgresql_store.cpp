// The same tables in PostgreSQL, for those who outgrow one file. A commit there is durable by the
// server's own synchronous_commit, which is set for every connection.
#include <fmt/core.h>
#include <libpq-fe.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <thread>

#include "edict/core/error.h"
#include "edict/core/number_text.h"
#include "edict/server/masked_uri.h"
#include "edict/server/store.h"

namespace edict::server {
namespace {

constexpr const char* kSchema = R"sql(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS features (id SERIAL PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS streams (
  id BIGSERIAL PRIMARY KEY, name TEXT NOT NULL UNIQUE, origin DOUBLE PRECISION,
  base DOUBLE PRECISION, about TEXT NOT NULL DEFAULT '{}');
CREATE TABLE IF NOT EXISTS observations (
  stream BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL, feature INTEGER NOT NULL,
  value DOUBLE PRECISION NOT NULL, received DOUBLE PRECISION NOT NULL,
  corrected INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (stream, time, feature));
CREATE TABLE IF NOT EXISTS states (
  stream BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL, model BIGINT NOT NULL,
  first DOUBLE PRECISION NOT NULL, events BIGINT NOT NULL, bytes BYTEA NOT NULL,
  PRIMARY KEY (stream, time));
CREATE TABLE IF NOT EXISTS alarms (
  id BIGINT PRIMARY KEY, stream BIGINT NOT NULL, rule TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS audit (
  id BIGSERIAL PRIMARY KEY, at DOUBLE PRECISION NOT NULL, what TEXT NOT NULL, who TEXT NOT NULL,
  stream TEXT NOT NULL, detail TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rejected (
  id BIGSERIAL PRIMARY KEY, at DOUBLE PRECISION NOT NULL, source TEXT NOT NULL,
  detail TEXT NOT NULL, payload BYTEA NOT NULL);
)sql";

// Of all servers of this kind on one database: only one may write.
constexpr const char* kOnlyOne = "SELECT pg_try_advisory_lock(5246237)";

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};

// An argument as text, or NULL.
struct Argument {
  Argument(double value) : null(std::isnan(value)) {
    if (std::isinf(value))
      text = value > 0 ? "Infinity" : "-Infinity";
    else if (!null)
      append_shortest(text, value);
  }
  Argument(std::int64_t value) : text(std::to_string(value)) {}
  Argument(std::int32_t value) : text(std::to_string(value)) {}
  Argument(std::string value) : text(std::move(value)) {}
  Argument(std::span<const std::byte> bytes) : text("\\x") {
    for (const std::byte b : bytes) {
      text += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
      text += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
    }
  }

  std::string text;
  bool null = false;
};

class Rows {
 public:
  explicit Rows(PGresult* result) : result_(result) {}

  int size() const { return PQntuples(result_.get()); }
  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::string text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }
  double number(int row, int column) const {
    return std::strtod(PQgetvalue(result_.get(), row, column), nullptr);
  }
  std::int64_t whole(int row, int column) const {
    return std::strtoll(PQgetvalue(result_.get(), row, column), nullptr, 10);
  }
  std::string bytes(int row, int column) const {
    std::size_t size = 0;
    unsigned char* raw = PQunescapeBytea(
        reinterpret_cast<const unsigned char*>(PQgetvalue(result_.get(), row, column)), &size);
    std::string result(reinterpret_cast<const char*>(raw), size);
    PQfreemem(raw);
    return result;
  }

 private:
  std::unique_ptr<PGresult, ClearResult> result_;
};

class PostgresqlStore final : public Store {
 public:
  PostgresqlStore(std::string uri, bool first) : uri_(std::move(uri)) {
    connect();
    if (!first) return;
    if (!becomes_the_only_one())
      throw Error(
          "the database: another server works on it; stop that one, or give another "
          "--store");
    first_ = true;
    command(kSchema);
  }

  std::unique_ptr<Store> another() const override {
    return std::make_unique<PostgresqlStore>(uri_, false);
  }

  void begin() override {
    // A connection that was lost is made again where nothing is under way.
    if (PQstatus(connection_.get()) != CONNECTION_OK) connect();
    try {
      command("BEGIN");
    } catch (const Error&) {
      connect();
      command("BEGIN");
    }
    within_ = true;
  }
  void commit() override {
    try {
      command("COMMIT");
      within_ = false;
    } catch (...) {
      rollback();
      throw;
    }
  }
  void rollback() noexcept override {
    within_ = false;
    PQclear(PQexec(connection_.get(), "ROLLBACK"));
  }

  std::vector<std::int32_t> feature_numbers(std::span<const std::string> names) override {
    std::vector<std::int32_t> numbers;
    for (const std::string& name : names) {
      run("INSERT INTO features (name) VALUES ($1) ON CONFLICT DO NOTHING", {name});
      numbers.push_back(static_cast<std::int32_t>(
          run("SELECT id FROM features WHERE name = $1", {name}).whole(0, 0)));
    }
    return numbers;
  }

  void each_stream(const std::function<void(KeptStream&&)>& sink) override {
    const Rows rows = run("SELECT id, name, origin, base, about FROM streams", {});
    for (int i = 0; i < rows.size(); ++i) {
      KeptStream stream;
      stream.id = rows.whole(i, 0);
      stream.name = rows.text(i, 1);
      if (!rows.is_null(i, 2)) stream.origin = rows.number(i, 2);
      if (!rows.is_null(i, 3)) stream.base = rows.number(i, 3);
      stream.about = rows.text(i, 4);
      sink(std::move(stream));
    }
  }
  std::int64_t add_stream(const std::string& name, double origin) override {
    return run("INSERT INTO streams (name, origin) VALUES ($1, $2) RETURNING id", {name, origin})
        .whole(0, 0);
  }
  void change_stream(const KeptStream& stream) override {
    const double base = std::isfinite(stream.base) ? stream.base : std::nan("");
    run("UPDATE streams SET origin = $1, base = $2, about = $3 WHERE id = $4",
        {stream.origin, base, stream.about, stream.id});
  }
  void remove_stream(std::int64_t stream) override {
    run("DELETE FROM observations WHERE stream = $1", {stream});
    run("DELETE FROM states WHERE stream = $1", {stream});
    run("DELETE FROM alarms WHERE stream = $1", {stream});
    run("DELETE FROM streams WHERE id = $1", {stream});
  }

  void put(std::span<const KeptValue> values, std::span<Put> outcomes) override {
    // In one round trip: arrays go in, and what was inserted or corrected comes back with its
    // place.
    if (values.empty()) return;
    std::string stream = "{", time = "{", feature = "{", value = "{", received = "{";
    const auto add = [](std::string& list, const std::string& item) {
      if (list.size() > 1) list += ',';
      list += item;
    };
    for (const KeptValue& v : values) {
      add(stream, std::to_string(v.stream));
      add(time, Argument(v.time).text);
      add(feature, std::to_string(v.feature));
      add(value, Argument(v.value).text);
      add(received, Argument(v.received).text);
    }
    for (std::string* list : {&stream, &time, &feature, &value, &received}) *list += '}';
    const Rows rows = run(
        "WITH given AS (SELECT * FROM unnest($1::bigint[], $2::double precision[], $3::integer[], "
        "$4::double precision[], $5::double precision[]) WITH ORDINALITY AS g(stream, time, "
        "feature, value, received, place)), put AS (INSERT INTO observations AS o (stream, time, "
        "feature, value, received) SELECT stream, time, feature, value, received FROM given "
        "ORDER BY place ON CONFLICT (stream, time, feature) DO UPDATE SET value = excluded.value, "
        "received = excluded.received, corrected = o.corrected + 1 WHERE o.value <> "
        "excluded.value RETURNING o.stream, o.time, o.feature, (o.corrected > 0) AS again) "
        "SELECT given.place, put.again FROM put JOIN given USING (stream, time, feature)",
        {stream, time, feature, value, received});
    std::fill(outcomes.begin(), outcomes.end(), Put::unchanged);
    for (int i = 0; i < rows.size(); ++i)
      outcomes[static_cast<std::size_t>(rows.whole(i, 0) - 1)] =
          rows.text(i, 1) == "t" ? Put::corrected : Put::inserted;
  }
  std::vector<KeptValue> values(std::int64_t stream, double after, double until,
                                std::size_t limit) override {
    return kept(stream,
                run("SELECT time, feature, value, received, corrected FROM observations WHERE "
                    "stream = $1 AND time > $2 AND time <= $3 ORDER BY time, feature LIMIT $4",
                    {stream, after, until, static_cast<std::int64_t>(limit)}));
  }
  std::vector<KeptValue> newest_values(std::int64_t stream, double until,
                                       std::size_t limit) override {
    return kept(stream,
                run("SELECT time, feature, value, received, corrected FROM observations WHERE "
                    "stream = $1 AND time <= $2 ORDER BY time DESC, feature DESC LIMIT $3",
                    {stream, until, static_cast<std::int64_t>(limit)}));
  }
  void remove_values(std::int64_t stream, double until) override {
    run("DELETE FROM observations WHERE stream = $1 AND time <= $2", {stream, until});
  }

  void put_state(std::int64_t stream, std::uint64_t model, const KeptState& state) override {
    run("INSERT INTO states (stream, time, model, first, events, bytes) VALUES ($1, $2, $3, $4, "
        "$5, $6) ON CONFLICT (stream, time) DO UPDATE SET model = excluded.model, first = "
        "excluded.first, events = excluded.events, bytes = excluded.bytes",
        {stream, state.time, std::bit_cast<std::int64_t>(model), state.first, state.events,
         std::span<const std::byte>(state.bytes)});
  }
  std::optional<KeptState> newest_state(std::int64_t stream, std::uint64_t model,
                                        double before) override {
    const Rows rows = run(
        "SELECT time, first, events, bytes FROM states WHERE stream = $1 AND model = $2 AND time "
        "< $3 ORDER BY time DESC LIMIT 1",
        {stream, std::bit_cast<std::int64_t>(model), before});
    if (rows.size() == 0) return {};
    KeptState state{rows.number(0, 0), rows.number(0, 1), rows.whole(0, 2), {}};
    const std::string bytes = rows.bytes(0, 3);
    state.bytes.resize(bytes.size());
    std::memcpy(state.bytes.data(), bytes.data(), bytes.size());
    return state;
  }
  void remove_states(std::int64_t stream, double from, double before) override {
    run("DELETE FROM states WHERE stream = $1 AND time >= $2 AND time < $3",
        {stream, from, before});
  }

  void each_alarm(const std::function<void(KeptAlarm&&)>& sink) override {
    const Rows rows = run("SELECT id, stream, rule, body FROM alarms ORDER BY id", {});
    for (int i = 0; i < rows.size(); ++i)
      sink({rows.whole(i, 0), rows.whole(i, 1), rows.text(i, 2), rows.text(i, 3)});
  }
  void put_alarm(const KeptAlarm& alarm) override {
    run("INSERT INTO alarms (id, stream, rule, body) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO "
        "UPDATE SET body = excluded.body",
        {alarm.id, alarm.stream, alarm.rule, alarm.body});
  }
  void remove_alarm(std::int64_t id) override { run("DELETE FROM alarms WHERE id = $1", {id}); }

  void add_audit(const AuditLine& line) override {
    run("INSERT INTO audit (at, what, who, stream, detail) VALUES ($1, $2, $3, $4, $5)",
        {line.at, line.what, line.who, line.stream, line.detail});
  }
  std::vector<AuditLine> audit(std::size_t newest) override {
    const Rows rows =
        run("SELECT at, what, who, stream, detail FROM audit ORDER BY id DESC LIMIT $1",
            {static_cast<std::int64_t>(newest)});
    std::vector<AuditLine> lines;
    for (int i = 0; i < rows.size(); ++i)
      lines.push_back(
          {rows.number(i, 0), rows.text(i, 1), rows.text(i, 2), rows.text(i, 3), rows.text(i, 4)});
    return lines;
  }
  void add_rejected(const RejectedLine& line) override {
    const auto* payload = reinterpret_cast<const std::byte*>(line.payload.data());
    const Rows rows = run(
        "INSERT INTO rejected (at, source, detail, payload) VALUES ($1, $2, $3, $4) RETURNING id",
        {line.at, line.source, line.detail, std::span(payload, line.payload.size())});
    run("DELETE FROM rejected WHERE id <= $1", {rows.whole(0, 0) - 10000});
  }
  std::vector<RejectedLine> rejected(std::size_t newest) override {
    const Rows rows =
        run("SELECT at, source, detail, payload FROM rejected ORDER BY id DESC LIMIT $1",
            {static_cast<std::int64_t>(newest)});
    std::vector<RejectedLine> lines;
    for (int i = 0; i < rows.size(); ++i)
      lines.push_back({rows.number(i, 0), rows.text(i, 1), rows.text(i, 2), rows.bytes(i, 3)});
    return lines;
  }

  std::optional<std::string> meta(const std::string& key) override {
    const Rows rows = run("SELECT value FROM meta WHERE key = $1", {key});
    if (rows.size() == 0) return {};
    return rows.text(0, 0);
  }
  void set_meta(const std::string& key, const std::string& value) override {
    run("INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = "
        "excluded.value",
        {key, value});
  }

  void backup(const std::string&) override {
    throw Error("PostgreSQL has its own tools for a backup; use pg_dump");
  }
  void tidy() override {}
  std::uint64_t bytes() override {
    return static_cast<std::uint64_t>(
        run("SELECT pg_database_size(current_database())", {}).whole(0, 0));
  }

 private:
  void connect() {
    connection_.reset(PQconnectdb(uri_.c_str()));
    if (PQstatus(connection_.get()) != CONNECTION_OK) fail("no connection");
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    command(
        "SET synchronous_commit = on; SET client_min_messages = warning; "
        "SET extra_float_digits = 3");
    // The lock went with the connection that was lost.
    if (first_ && !becomes_the_only_one()) fail("another server works on it now");
  }
  // PostgreSQL needs a moment to notice that a server is gone, which may be this one's own last
  // life.
  bool becomes_the_only_one() {
    constexpr int kTries = 30;
    for (int tried = 0; tried < kTries; ++tried) {
      if (run(kOnlyOne, {}).text(0, 0) == "t") return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  [[noreturn]] void fail(const std::string& what) const {
    std::string why = PQerrorMessage(connection_.get());
    while (!why.empty() && why.back() == '\n') why.pop_back();
    // What libpq cannot parse it repeats, with its password.
    if (const std::size_t at = why.find(uri_); at != std::string::npos)
      why.replace(at, uri_.size(), masked_uri(uri_));
    throw Error(fmt::format("the store: {}: {}", what, why));
  }
  void command(const char* sql) {
    const std::unique_ptr<PGresult, ClearResult> result(PQexec(connection_.get(), sql));
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) fail("a command failed");
  }
  Rows run(const char* sql, const std::vector<Argument>& arguments) {
    std::vector<const char*> list;
    for (const Argument& argument : arguments)
      list.push_back(argument.null ? nullptr : argument.text.c_str());
    const auto execute = [&] {
      return PQexecParams(connection_.get(), sql, static_cast<int>(list.size()), nullptr,
                          list.data(), nullptr, nullptr, 0);
    };
    const auto failed = [](const PGresult* result) {
      const ExecStatusType status = PQresultStatus(result);
      return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK;
    };
    PGresult* result = execute();
    // The server was restarted meanwhile: outside of a transaction that is no reason to fail.
    if (failed(result) && !within_) {
      PQclear(result);
      connect();
      result = execute();
    }
    Rows rows(result);
    if (failed(result)) fail("a statement failed");
    return rows;
  }
  static std::vector<KeptValue> kept(std::int64_t stream, const Rows& rows) {
    std::vector<KeptValue> result;
    for (int i = 0; i < rows.size(); ++i)
      result.push_back({stream, rows.number(i, 0), static_cast<std::int32_t>(rows.whole(i, 1)),
                        rows.number(i, 2), rows.number(i, 3), rows.whole(i, 4) > 0});
    return result;
  }

  std::string uri_;
  bool first_ = false;
  bool within_ = false;  // a transaction
  std::unique_ptr<PGconn, CloseConnection> connection_;
};

}  // namespace

std::unique_ptr<Store> open_postgresql(const std::string& uri) {
  return std::make_unique<PostgresqlStore>(uri, true);
}

}  // namespace edict::server
