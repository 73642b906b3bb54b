// Many streams, alive: what comes in is made durable, absorbed, watched for alarms and told to
// those who listen, in this order, and only then is it answered.
//
//   submit → writer (one thread: group commit) → shard (a thread and an engine each) → done
//
// A stream belongs to one shard, by a hash of its name. What comes late or corrected is found again
// in the store: a shard goes back to a kept state and absorbs what followed, so that the result is
// bit for bit what `edict predict` gives for the same observations, whatever way they came.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "edict/server/alarms.h"
#include "edict/server/event_log.h"
#include "edict/server/incoming.h"
#include "edict/server/live_stream.h"
#include "edict/server/store.h"
#include "edict/server/stream_clock.h"

namespace edict::server {

struct LiveSettings {
  std::size_t shards = 0;             // 0: one a processor, but one
  std::size_t most_pending = 200000;  // values that were taken and are not answered yet
  std::size_t most_streams = 100000;  // a name that is new is refused beyond
  std::string time_unit = {};         // of a model of plain numbers: s, min, h, d
  Guard guard = {};
  double keep = 0;            // in the model's unit behind a stream's newest; 0: everything
  double alarm_interval = 1;  // seconds between two judgements of one stream
};

// A row that was not taken.
struct Refusal {
  std::size_t row = 0;  // of the request, from 0
  std::string why;
};
inline constexpr std::size_t kRefusalsTold = 100;  // of one request

struct Outcome {
  // `stored`: some of it was taken or known already; `invalid`: nothing was, and `detail` has the
  // first reason; `crowded`: nothing was, as it is of streams beyond the most that are allowed.
  enum class Kind { stored, full, failed, invalid, crowded };
  Kind kind = Kind::stored;
  std::size_t stored = 0;     // values that were new or corrected
  std::size_t corrected = 0;  // of those
  std::size_t unchanged = 0;
  std::size_t late = 0;  // of the stored, before what had come already
  std::size_t refused = 0;
  std::vector<Refusal> refusals;  // the first of them
  std::string detail;             // why, where nothing was stored
};

// What is counted, for /metrics.
struct Counters {
  std::atomic<std::uint64_t> values{0}, unchanged{0}, corrected{0}, late{0}, events{0}, replays{0},
      commits{0}, refused_full{0}, store_failures{0}, faults{0}, rejected{0}, alarms{0};
  std::atomic<double> commit_seconds{0};
};

class Live {
 public:
  // The store's streams are there at once; their states are read when they are first needed.
  Live(std::shared_ptr<const Model> model, const LiveSettings& settings,
       std::unique_ptr<Store> store, std::vector<Rule> rules);
  // Finishes what was taken, and keeps every state.
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  const Model& model() const { return *model_; }
  const StreamClock& clock() const { return clock_; }
  const Intake& intake() const { return intake_; }
  const LiveSettings& settings() const { return settings_; }
  const Counters& counters() const { return counters_; }
  EventLog& event_log() { return events_; }
  std::size_t streams() const;
  std::size_t pending() const { return pending_; }
  // Empty while the store can be written to, else what it said last.
  std::string store_problem() const;

  // Any thread. `done` is called exactly once: on another thread when everything is durable and
  // absorbed, or at once for what is full or invalid.
  void submit(std::vector<Row> rows, std::function<void(const Outcome&)> done);
  Outcome submit_and_wait(std::vector<Row> rows);
  // Empty where there is a stream of this name or room for it, else why it cannot begin.
  std::string no_room_for(const std::string& name) const;
  // Into the table of what could not be understood; durable when it returns. Throws Error.
  void reject(const std::string& source, const std::string& payload, const std::string& detail);

  // Runs on the writer's thread inside of a transaction, which is durable when `done` is called,
  // with nullptr or with why it failed. `alone`: in a transaction of its own.
  void write(std::function<void(Store&)> what, std::function<void(const std::string*)> done,
             bool alone = false);

  // What a task on a shard's thread may use.
  struct Access {
    StreamEngine& engine;
    Store& store;
    Live& live;
  };
  // Runs where the stream lives, with nullptr where there is none of this name. The stream is
  // loaded. Exceptions of a task are its own business.
  void on_stream(const std::string& name, std::function<void(Access, LiveStream*)> task);
  // On every shard, with all of its streams (not necessarily loaded), and how many shards have
  // yet to do it.
  using Streams = std::unordered_map<std::string, std::shared_ptr<LiveStream>>;
  void on_every_shard(std::function<void(Access, Streams&, std::size_t remaining)> task);
  // On a thread of its own, for what may take long.
  void aside(std::function<void(Access)> task);
  // Reads what the store has of it, if that has not happened yet.
  void load(Access access, LiveStream& stream) const;

  // The past of a stream: a copy is set to the last kept state before a raw time, and goes on from
  // there. `visit` comes before each event is absorbed, when the state has begun; its values are
  // also as the store has them.
  void restore(Access access, LiveStream& stream, double before) const;
  using Visit = std::function<void(double time, std::span<const Observation> observed,
                                   std::span<const KeptValue> values)>;
  void replay(Access access, LiveStream& stream, double until, const Visit& visit) const;
  // The model's number of a feature that the store has, or −1.
  std::int32_t model_feature(std::int32_t kept) const {
    const auto found = model_feature_.find(kept);
    return found == model_feature_.end() ? -1 : found->second;
  }

  // Each calls `done` when it is durable, with why not, if not. `who`: for the audit.
  void describe(const std::string& name, StreamAbout about, std::optional<double> origin,
                std::function<void(const std::string*)> done, const std::string& who = {});
  void remove(const std::string& name, std::function<void(bool found, const std::string*)> done,
              const std::string& who = {});
  // With the alarm, or nullptr where there is none of this number.
  void acknowledge(
      std::int64_t id, const std::string& by, const std::string& reason,
      std::function<void(const Alarm*, const std::string& stream, const std::string*)> done);
  std::vector<Rule> rules() const;
  void set_rules(std::vector<Rule> rules, const std::string& who,
                 std::function<void(const std::string*)> done);

 private:
  struct Group;
  struct Item;
  struct Request;
  struct Job;
  struct Shard;

  void run_writer();
  void commit(std::vector<Request>& requests);
  std::shared_ptr<LiveStream> find(const std::string& name) const;

  void run_shard(Shard& shard);
  void absorb(Shard& shard, std::vector<Job>& jobs);
  void absorb_events(Shard& shard, std::vector<LiveStream*>& streams);
  void rebuild(Access access, LiveStream& stream) const;
  void read_again(Access access, LiveStream& stream) const;
  void begin(StreamEngine& engine, LiveStream& stream, double first) const;
  void absorb_one(StreamEngine& engine, LiveStream& stream, double raw,
                  const std::vector<Observation>& observed) const;
  void judge(Shard& shard, const std::vector<LiveStream*>& streams, double now);
  void judge_silence(Shard& shard, double now);
  void advance(Shard& shard, LiveStream& stream, const Rule& rule, const Finding& finding,
               double now);
  void tell(LiveStream& stream);
  void keep_state(LiveStream& stream);
  void prune(Shard& shard, LiveStream& stream);
  void post(Shard& shard, std::function<void(Access, Shard&)> task);

  const std::shared_ptr<const Model> model_;
  const LiveSettings settings_;
  const StreamClock clock_;
  const Intake intake_;
  const std::uint64_t fingerprint_;
  std::vector<std::int32_t> store_feature_;             // of a feature of the model
  std::map<std::int32_t, std::int32_t> model_feature_;  // and back

  mutable Counters counters_;
  EventLog events_;
  std::atomic<std::size_t> pending_{0};
  std::atomic<std::int64_t> next_alarm_{1};

  mutable std::mutex told_mutex_;  // of the three below
  std::string store_problem_;
  std::shared_ptr<const std::vector<Rule>> rules_;
  std::unordered_map<std::int64_t, std::string> alarm_streams_;

  mutable std::shared_mutex names_mutex_;
  Streams names_;  // changed by the writer's thread alone

  std::unique_ptr<Store> store_;  // the writer's
  std::mutex queue_mutex_;
  std::condition_variable queue_came_;
  std::deque<Request> queue_;
  bool stopping_ = false;
  std::uint64_t commit_number_ = 0;

  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Shard> aside_;  // without streams
  std::thread writer_;
};

// Seconds since 1970.
double wall_seconds();
// The same as it was when the program began, moved on by a clock that nobody sets: durations are
// measured by it, so that a step of the wall clock neither hides a silence nor makes one up.
double running_seconds();

}  // namespace edict::server
