// The same tables in PostgreSQL, for those who outgrow one file. A commit there is durable by the
// server's own synchronous_commit, which is set for every connection.
#include <fmt/core.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "base/error.h"
#include "front/server/store/postgresql_connection.h"
#include "front/server/store/postgresql_schema.h"
#include "front/server/store/store.h"

namespace edict::server {
namespace {

std::string random_mark() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

using Argument = PostgresqlArgument;
using Rows = PostgresqlRows;

class PostgresqlStore final : public Store {
 public:
  PostgresqlStore(const std::string& uri, std::shared_ptr<PostgresqlPatience> patience, bool first)
      : db_(uri, std::move(patience)), session_(random_mark()) {
    connect();
    if (!first) return;
    if (!becomes_the_only_one())
      throw Error(
          "the database: another server works on it; stop that one, or give another "
          "--store");
    first_ = true;
    db_.command(kPostgresqlSchema);
    const std::optional<std::string> format = meta("format");
    if (!format)
      db_.command(kPostgresqlFromFormat1);
    else if (*format != "2")
      throw Error(fmt::format(
          "the database: written by another version of edict (format {}, here 2); give another "
          "--store",
          *format));
    mark_ = meta("commit").value_or("");
  }

  std::unique_ptr<Store> another() const override {
    return std::make_unique<PostgresqlStore>(db_.uri(), db_.patience(), false);
  }

  void begin() override {
    // A connection that was lost is made again where nothing is under way.
    if (!db_.is_open()) connect();
    try {
      db_.command("BEGIN");
    } catch (const Error&) {
      connect();
      db_.command("BEGIN");
    }
    within_ = true;
  }
  // Where the reply is lost nobody knows what became of the transaction. It has written a mark that
  // no other has, which is looked for under the lock: it was taken from whoever held it before.
  void commit() override {
    const std::string mark = random_mark();
    try {
      set_meta("commit", mark);
      db_.command("COMMIT");
      within_ = false;
      mark_ = mark;
    } catch (const Error&) {
      within_ = false;
      pending_mark_ = mark;
      try {
        connect();
      } catch (...) {
        pending_mark_.clear();  // whoever finds it there later did not expect it
        throw;
      }
      pending_mark_.clear();
      if (mark_ != mark) throw;
    }
  }
  void rollback() noexcept override {
    within_ = false;
    if (!db_.is_open()) return;
    try {
      db_.command("ROLLBACK");
    } catch (...) {
      db_.close();  // which ends the transaction as well
    }
  }
  void limit_wait(std::chrono::milliseconds most) override {
    db_.patience()->most = std::min(most, db_.patience()->most.load());
  }
  std::uint64_t generation() const override { return generation_; }

  std::vector<std::string> features() override {
    const Rows rows = run("SELECT name FROM features ORDER BY id", {});
    std::vector<std::string> names;
    for (int i = 0; i < rows.size(); ++i) names.push_back(rows.text(i, 0));
    return names;
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
    const Rows rows = run("SELECT id, name, origin, base, about, first FROM streams", {});
    for (int i = 0; i < rows.size(); ++i) {
      KeptStream stream;
      stream.id = rows.whole(i, 0);
      stream.name = rows.text(i, 1);
      if (!rows.is_null(i, 2)) stream.origin = rows.number(i, 2);
      if (!rows.is_null(i, 3)) stream.base = rows.number(i, 3);
      stream.about = rows.text(i, 4);
      if (!rows.is_null(i, 5)) stream.first = rows.number(i, 5);
      sink(std::move(stream));
    }
  }
  std::int64_t add_stream(const std::string& name, double origin) override {
    return run("INSERT INTO streams (name, origin) VALUES ($1, $2) RETURNING id", {name, origin})
        .whole(0, 0);
  }
  void change_stream(const KeptStream& stream) override {
    const double base = std::isfinite(stream.base) ? stream.base : std::nan("");
    run("UPDATE streams SET origin = $1, base = $2, about = $3, first = $4 WHERE id = $5",
        {stream.origin, base, stream.about, stream.first, stream.id});
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
        "ORDER BY place ON CONFLICT (stream, time, feature) DO UPDATE SET prior = o.value, "
        "value = excluded.value, received = excluded.received, corrected = o.corrected + 1 WHERE "
        "o.value <> "
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
  std::size_t remove_range(std::int64_t stream, double from, double until,
                           std::span<const std::int32_t> features) override {
    std::string list = "{";
    for (const std::int32_t feature : features)
      list += (list.size() > 1 ? "," : "") + std::to_string(feature);
    return run("DELETE FROM observations WHERE stream = $1 AND time >= $2 AND time <= $3 AND "
               "($4::integer[] = '{}' OR feature = ANY($4::integer[]))",
               {stream, from, until, list + "}"})
        .changed();
  }
  bool take_back(std::int64_t stream, double time, std::int32_t feature, double value) override {
    if (run("UPDATE observations SET value = prior, prior = NULL, corrected = corrected - 1 WHERE "
            "stream = $1 AND time = $2 AND feature = $3 AND value = $4 AND prior IS NOT NULL",
            {stream, time, feature, value})
            .changed() > 0)
      return true;
    run("DELETE FROM observations WHERE stream = $1 AND time = $2 AND feature = $3 AND value = $4",
        {stream, time, feature, value});
    run("UPDATE observations SET prior = NULL, corrected = corrected - 1 WHERE stream = $1 AND "
        "time = $2 AND feature = $3 AND prior = $4",
        {stream, time, feature, value});
    return false;
  }

  void put_state(std::int64_t stream, std::uint64_t model, const KeptState& state) override {
    run("INSERT INTO states (stream, time, model, first, events, bytes, received) VALUES ($1, $2, "
        "$3, $4, $5, $6, $7) ON CONFLICT (stream, time) DO UPDATE SET model = excluded.model, "
        "first = excluded.first, events = excluded.events, bytes = excluded.bytes, received = "
        "excluded.received",
        {stream, state.time, std::bit_cast<std::int64_t>(model), state.first, state.events,
         std::span<const std::byte>(state.bytes), state.received});
  }
  std::optional<KeptState> newest_state(std::int64_t stream, std::uint64_t model,
                                        double before) override {
    const Rows rows = run(
        "SELECT time, first, events, received, bytes FROM states WHERE stream = $1 AND model = $2 "
        "AND time < $3 ORDER BY time DESC LIMIT 1",
        {stream, std::bit_cast<std::int64_t>(model), before});
    if (rows.size() == 0) return {};
    KeptState state{rows.number(0, 0), rows.number(0, 1), rows.whole(0, 2), rows.number(0, 3), {}};
    const std::string bytes = rows.bytes(0, 4);
    state.bytes.resize(bytes.size());
    std::memcpy(state.bytes.data(), bytes.data(), bytes.size());
    return state;
  }
  std::vector<KeptState> states(std::int64_t stream, std::uint64_t model) override {
    const Rows rows = run(
        "SELECT time, first, events, received FROM states WHERE stream = $1 AND model = $2 ORDER "
        "BY time",
        {stream, std::bit_cast<std::int64_t>(model)});
    std::vector<KeptState> list;
    for (int i = 0; i < rows.size(); ++i)
      list.push_back(
          {rows.number(i, 0), rows.number(i, 1), rows.whole(i, 2), rows.number(i, 3), {}});
    return list;
  }
  std::size_t cut_off(std::uint64_t model) override {
    return static_cast<std::size_t>(
        run("SELECT count(*) FROM streams WHERE base IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
            "states WHERE stream = streams.id AND model = $1)",
            {std::bit_cast<std::int64_t>(model)})
            .whole(0, 0));
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
    db_.open();
    db_.command(
        "SET synchronous_commit = on; SET client_min_messages = warning; "
        "SET extra_float_digits = 3");
    db_.command(fmt::format("SET application_name = 'edict-{}'", session_).c_str());
    if (first_) take_over();
  }
  // The lock went with the connection that was lost. Its session may still hang, and hold it.
  void take_over() {
    try {
      db_.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND "
          "pid <> pg_backend_pid()",
          {"edict-" + session_});
      if (!becomes_the_only_one()) throw Error("the store: another server works on it now");
      const Rows kept = db_.execute("SELECT value FROM meta WHERE key = 'commit'", {});
      const std::string mark = kept.size() > 0 ? kept.text(0, 0) : "";
      if (mark != mark_ && mark != pending_mark_) ++generation_;
      mark_ = mark;
    } catch (...) {
      db_.close();  // nothing may be written without the lock
      throw;
    }
  }
  // PostgreSQL needs a moment to notice that a server is gone, which may be this one's own last
  // life.
  bool becomes_the_only_one() {
    constexpr int kTries = 30;
    for (int tried = 0; tried < kTries; ++tried) {
      if (db_.execute(kOnlyOne, {}).text(0, 0) == "t") return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  Rows run(const char* sql, const std::vector<Argument>& arguments) {
    // The server was restarted meanwhile: outside of a transaction that is no reason to fail.
    if (!db_.is_open() && !within_) connect();
    try {
      return db_.execute(sql, arguments);
    } catch (const MachineError&) {
      throw;  // it was waited for long enough
    } catch (const Error&) {
      if (within_) throw;
      connect();
      return db_.execute(sql, arguments);
    }
  }
  static std::vector<KeptValue> kept(std::int64_t stream, const Rows& rows) {
    std::vector<KeptValue> result;
    for (int i = 0; i < rows.size(); ++i)
      result.push_back({stream, rows.number(i, 0), static_cast<std::int32_t>(rows.whole(i, 1)),
                        rows.number(i, 2), rows.number(i, 3), rows.whole(i, 4) > 0});
    return result;
  }

  PostgresqlConnection db_;
  std::string session_;
  bool first_ = false;
  std::string mark_;          // of the last transaction that is known to be there
  std::string pending_mark_;  // of the one whose outcome `commit` waits for
  std::uint64_t generation_ = 0;
  bool within_ = false;  // a transaction
};

}  // namespace

std::unique_ptr<Store> open_postgresql(const std::string& uri, const StoreOptions& options) {
  auto patience = std::make_shared<PostgresqlPatience>();
  patience->most = options.patience;
  return std::make_unique<PostgresqlStore>(uri, std::move(patience), true);
}

}  // namespace edict::server
