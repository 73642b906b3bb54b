// What the server remembers over a restart. A Store is one connection to it, used by one thread at
// a time: the writer has one, every shard another one to read what lies further back.
//
// Observations are the truth; states are only a shorter way to what absorbing the observations
// before them would give, and may be thrown away at any time unless retention removed what they
// stand on (KeptStream::base).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edict::server {

// Times here are raw (TimeAxis): microseconds since 1970 where a model counts from dates, else the
// numbers of the stream's clock. `received` and `at` are seconds since 1970 by the server's clock.
struct KeptStream {
  std::int64_t id = 0;
  std::string name;
  // What a date counts from on a stream whose clock are numbers; NaN before there was one.
  double origin = std::numeric_limits<double>::quiet_NaN();
  // Observations up to here were removed: nothing can change there any more.
  double base = -std::numeric_limits<double>::infinity();
  // Time of the first event, where it is among what was removed: clocks may count from it.
  double first = std::numeric_limits<double>::quiet_NaN();
  std::string about = "{}";  // JSON: what PUT /v1/streams/{id} told of it
};

struct KeptValue {
  std::int64_t stream = 0;
  double time = 0;
  std::int32_t feature = 0;  // the store's number of it
  double value = 0;
  double received = 0;
  bool corrected = false;  // an earlier value stood here
};

enum class Put : std::uint8_t { inserted, corrected, unchanged };

// The state of a stream after everything up to `time`.
struct KeptState {
  double time = 0;
  double first = 0;  // time of the stream's first event
  std::int64_t events = 0;
  double received = 0;  // when the last of what it has seen came
  std::vector<std::byte> bytes;
};

struct KeptAlarm {
  std::int64_t id = 0;
  std::int64_t stream = 0;
  std::string rule;
  std::string body;  // JSON
};

struct AuditLine {
  double at = 0;
  std::string what, who, stream, detail;
};

struct RejectedLine {
  double at = 0;
  std::string source, detail, payload;
};

class Store {
 public:
  virtual ~Store() = default;

  // Another connection to the same store.
  virtual std::unique_ptr<Store> another() const = 0;

  // What is written between the two is durable together when commit returns, or not there at all.
  // Throws Error (the disk is full, the connection is gone); then everything since begin is undone.
  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void rollback() noexcept = 0;
  // Another number than before says that another server has written meanwhile: what is in memory
  // is to be read again.
  virtual std::uint64_t generation() const { return 0; }
  // What any connection found to be damaged, until the store is opened anew; empty while nothing
  // is.
  virtual std::string damage() const { return {}; }
  // From now on no connection waits longer than this for an answer. Any thread may call it.
  virtual void limit_wait(std::chrono::milliseconds) {}

  virtual std::vector<std::string> features() = 0;
  virtual std::vector<std::int32_t> feature_numbers(std::span<const std::string> names) = 0;

  virtual void each_stream(const std::function<void(KeptStream&&)>& sink) = 0;
  virtual std::int64_t add_stream(const std::string& name, double origin) = 0;
  virtual void change_stream(const KeptStream& stream) = 0;
  // With everything that belongs to it but the audit.
  virtual void remove_stream(std::int64_t stream) = 0;

  // What became of each value. No (stream, time, feature) may be in it twice.
  virtual void put(std::span<const KeptValue> values, std::span<Put> outcomes) = 0;
  // In the order of time, then feature: those with after < time ≤ until, at most `limit`.
  virtual std::vector<KeptValue> values(std::int64_t stream, double after, double until,
                                        std::size_t limit) = 0;
  // The last ones before or at `until`, newest first.
  virtual std::vector<KeptValue> newest_values(std::int64_t stream, double until,
                                               std::size_t limit) = 0;
  virtual void remove_values(std::int64_t stream, double until) = 0;
  // Those with from ≤ time ≤ until, of these features (empty: of all); how many there were.
  virtual std::size_t remove_range(std::int64_t stream, double from, double until,
                                   std::span<const std::int32_t> features) = 0;
  // Undoes the `put` of a value: the one before its correction stands again, or none. Whether there
  // was one. Where it was corrected meanwhile it only ceases to be the one before.
  virtual bool take_back(std::int64_t stream, double time, std::int32_t feature, double value) = 0;

  virtual void put_state(std::int64_t stream, std::uint64_t model, const KeptState& state) = 0;
  // The newest one with time < `before`.
  virtual std::optional<KeptState> newest_state(std::int64_t stream, std::uint64_t model,
                                                double before) = 0;
  // All of them in the order of time, without their bytes.
  virtual std::vector<KeptState> states(std::int64_t stream, std::uint64_t model) = 0;
  // Streams whose beginning was removed and that have no state of this model.
  virtual std::size_t cut_off(std::uint64_t model) = 0;
  // Those with from ≤ time < before.
  virtual void remove_states(std::int64_t stream, double from, double before) = 0;

  virtual void each_alarm(const std::function<void(KeptAlarm&&)>& sink) = 0;
  virtual void put_alarm(const KeptAlarm& alarm) = 0;  // by its id
  virtual void remove_alarm(std::int64_t id) = 0;

  virtual void add_audit(const AuditLine& line) = 0;
  virtual std::vector<AuditLine> audit(std::size_t newest) = 0;
  virtual void add_rejected(const RejectedLine& line) = 0;  // keeps the last 10,000
  virtual std::vector<RejectedLine> rejected(std::size_t newest) = 0;

  virtual std::optional<std::string> meta(const std::string& key) = 0;
  virtual void set_meta(const std::string& key, const std::string& value) = 0;

  // A copy of everything as it is now, while others go on writing. Throws Error where the store has
  // tools of its own for that.
  virtual void backup(const std::string& path) = 0;
  // Called when nothing else is to be done.
  virtual void tidy() = 0;
  virtual std::uint64_t bytes() = 0;
};

struct StoreOptions {
  std::uint64_t limit_megabytes = 0;  // 0: as large as the disk allows
  // How long PostgreSQL may be silent before a statement fails.
  std::chrono::milliseconds patience = std::chrono::seconds(5);
};

// `where`: a file for SQLite, or postgresql://…. What happened on the way, such as a damaged file
// that was put aside, is told in `notices`. Throws Error.
std::unique_ptr<Store> open_store(const std::string& where, const StoreOptions& options,
                                  std::vector<std::string>& notices);

// Of the two kinds.
std::unique_ptr<Store> open_sqlite(const std::string& path, const StoreOptions& options,
                                   std::vector<std::string>& notices);
std::unique_ptr<Store> open_postgresql(const std::string& uri, const StoreOptions& options);

}  // namespace edict::server
