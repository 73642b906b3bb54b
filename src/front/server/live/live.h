// Many streams, alive: what comes in is made durable, absorbed, watched for alarms and told to
// those who listen, in this order, and only then is it answered.
//
//   submit → writer (one thread: group commit) → shard (a thread and an engine each) → done
//                                                  ↕ replays      ↓ questions
//
// A stream belongs to one shard, by a hash of its name, which absorbs what comes in order. What
// comes late or corrected is absorbed on a thread of its own: it goes back to a kept state, reads
// from the store what followed, and hands the stream back, so that the result is bit for bit what
// `edict predict` gives for the same observations, whatever way they came. The stream's own
// requests and questions wait for that, those of others do not.
#pragma once

#include <atomic>
#include <chrono>
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

#include "front/server/alarms/alarms.h"
#include "front/server/alarms/event_log.h"
#include "front/server/ingest/incoming.h"
#include "front/server/ingest/stream_clock.h"
#include "front/server/live/live_stream.h"
#include "front/server/live/result.h"
#include "front/server/store/store.h"

namespace edict::server {

struct LiveSettings {
  std::size_t shards = 0;             // 0: one a processor, but one
  std::size_t most_pending = 200000;  // values that were taken and are not answered yet
  std::size_t most_streams = 100000;  // a name that is new is refused beyond
  std::string time_unit = {};         // of a model of plain numbers: s, min, h, d
  Guard guard = {};
  double keep = 0;            // in the model's unit, since it was received; 0: everything
  double alarm_interval = 1;  // seconds between two judgements of one stream
  double future = 300;        // seconds that a date may lie after its arrival
  // Seconds since 1970 by the server's clock, for tests.
  std::function<double()> clock = {};
};

struct Outcome {
  // invalid, crowded: every value was refused; crowded: for being of one stream too many.
  enum class Kind { stored, full, failed, invalid, crowded };
  Kind kind = Kind::stored;
  std::size_t stored = 0;     // values that were new or corrected
  std::size_t corrected = 0;  // of those
  std::size_t unchanged = 0;
  std::size_t late = 0;  // of the stored, before what had come already
  std::string detail;    // why, where nothing was stored
  Refused refused;       // what was not stored beside what was
};

// What becomes of a request of which some values cannot be taken.
enum class Acceptance : std::uint8_t { whole, partial };

// What is counted, for /metrics.
struct Counters {
  std::atomic<std::uint64_t> values{0}, unchanged{0}, corrected{0}, late{0}, events{0}, replays{0},
      commits{0}, refused_full{0}, store_failures{0}, faults{0}, rejected{0}, alarms{0},
      replayed_events{0};
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
  // Seconds since 1970, by a clock that nobody sets (running_seconds).
  double now() const;
  // What should be told to whoever started it.
  const std::vector<std::string>& notices() const { return notices_; }
  // Empty while the store can be written to, else what it said last.
  std::string store_problem() const;

  // From now on nobody waits longer than this for the store, because the server ends.
  void limit_wait(std::chrono::milliseconds most) { store_->limit_wait(most); }

  // Any thread. `done` is called exactly once: on another thread when everything is durable and
  // absorbed, or at once for what is full or invalid.
  void submit(std::vector<Row> rows, std::function<void(const Outcome&)> done,
              Acceptance acceptance = Acceptance::whole);
  Outcome submit_and_wait(std::vector<Row> rows, Acceptance acceptance = Acceptance::whole);
  // Empty where there is a stream of this name or room for it, else why it cannot begin.
  std::string no_room_for(const std::string& name) const;
  // Into the table of what could not be understood; durable when it returns. Throws Error.
  void reject(const std::string& source, const std::string& payload, const std::string& detail);

  // Runs on the writer's thread inside of a transaction, which is durable when `done` is called,
  // or it has failed. `alone`: in a transaction of its own.
  void write(std::function<void(Store&)> what, WhenDone<> done, bool alone = false);

  // What a task on one of the threads may use.
  struct Access {
    StreamEngine& engine;
    Store& store;
    Live& live;
  };
  // A question of a stream as it is when everything that was answered is absorbed; nullptr where
  // there is none of this name. It runs apart from the shard, on a copy, and may take long.
  // Exceptions of a task are its own business.
  void on_stream(const std::string& name, std::function<void(Access, LiveStream*)> task);
  // On every shard, with all of its streams (not necessarily loaded), and how many shards have
  // yet to do it.
  using Streams = std::unordered_map<std::string, std::shared_ptr<LiveStream>>;
  void on_every_shard(std::function<void(Access, Streams&, std::size_t remaining)> task);
  // On a thread of its own, for what may take very long.
  void aside(std::function<void(Access)> task);

  // The past of a stream: a copy is set to the last kept state before a raw time, and goes on from
  // there. `visit` comes before each event is absorbed, when the state has begun; its values are
  // also as the store has them.
  void restore(Access access, StreamPast& past, double before) const;
  using Visit = std::function<void(double time, std::span<const Observation> observed,
                                   std::span<const KeptValue> values)>;
  void replay(Access access, StreamPast& past, double until, const Visit& visit) const;
  // A question about a stream after its newest event, at a time of the model's data. Throws Error
  // where that lies so far ahead that an answer would take too long.
  StreamEngine::Question question(const StreamPast& past, double time) const;
  // The model's number of a feature that the store has, or −1.
  std::int32_t model_feature(std::int32_t kept) const {
    const auto found = model_feature_.find(kept);
    return found == model_feature_.end() ? -1 : found->second;
  }

  // `who`: for the audit.
  void describe(const std::string& name, StreamAbout about, std::optional<double> origin,
                WhenDone<> done, const std::string& who = {});
  void remove(const std::string& name, WhenDone<> done, const std::string& who = {});
  // Values of a stream with from ≤ raw time ≤ until, of these features of the model (none: of
  // every one), as if they had never come. How many there were.
  void erase(const std::string& name, double from, double until, std::vector<std::int32_t> features,
             const std::string& who, WhenDone<std::size_t> done);
  // Of all streams, or of one, in the order in which somebody should look; of these states, or of
  // any.
  void alarms(const std::string& stream, std::vector<std::string> states, std::size_t most,
              std::function<void(std::vector<AlarmOfStream>)> done);
  void acknowledge(std::int64_t id, const std::string& by, const std::string& reason,
                   WhenDone<AlarmOfStream> done);
  std::vector<Rule> rules() const;
  void set_rules(std::vector<Rule> rules, const std::string& who, WhenDone<> done);

  // Inside of its source files (live_parts.h).
  struct Group;
  struct Item;
  struct Request;
  struct Job;
  struct Worker;
  struct Shard;
  struct Transaction;
  struct Replay;
  struct LeftOut;
  struct Held;

 private:
  // ---- live.cpp ----
  void check_features();
  void check_times(bool is_new);
  Held read_store();
  void read_again();
  void reserve_alarms(std::int64_t until);
  std::string row_text(const std::string& stream, double shown, std::int32_t feature,
                       double value) const;
  std::shared_ptr<LiveStream> find(const std::string& name) const;
  void release(Group& group);

  // ---- live_writer.cpp: on the writer's thread ----
  void run_writer();
  void commit(std::vector<Request>& requests);
  void take(Request& request, Transaction& transaction);
  struct Why;
  Why refusal(const Row& row, const std::shared_ptr<LiveStream>& stream, double origin,
              double present);
  std::string gap_problem(const std::shared_ptr<LiveStream>& stream, double raw);
  std::string gap_text(double raw) const;
  double newest_of(const std::shared_ptr<LiveStream>& stream);
  void quarantine(const Request& request, const Row& row, double shown, const std::string& why);
  void put(Request& request, std::vector<Item>& own, Transaction& transaction);
  void undo(Transaction& transaction);
  void pass_on(std::vector<Request>& requests, Transaction& transaction);
  LiveStream::Written& touch(const std::shared_ptr<LiveStream>& stream);
  std::shared_ptr<LiveStream> added_stream(const std::string& name, double origin);
  void forget_states(LiveStream& stream, double from);

  // ---- live_shard.cpp: on a shard's thread ----
  void run_shard(Shard& shard);
  void look_after(Shard& shard);
  void absorb(Shard& shard, std::vector<Job>& jobs);
  void sort_in(Shard& shard, std::vector<Job>& jobs, std::vector<LiveStream*>& touched);
  bool is_near(const LiveStream& stream, double raw) const;
  std::vector<LeftOut> absorb_events(Shard& shard, std::vector<LiveStream*>& streams);
  void list(Shard& shard, const std::shared_ptr<LiveStream>& stream);
  void wait_for(Item& item, std::uint64_t commit);
  void start_replay(const std::shared_ptr<LiveStream>& stream, double before);
  void end_replay(Shard& shard, Replay& replay);
  void settle(LiveStream& stream, const Replay& replay);
  void fail_waiting(LiveStream& stream, const std::string& why);
  void refuse(const std::shared_ptr<LiveStream>& stream, const Item& item, const std::string& why);
  void when_ready(const std::shared_ptr<LiveStream>& stream, std::function<void(LiveStream*)> task);
  void tell(LiveStream& stream);
  void keep_states(LiveStream& stream);
  void prune(LiveStream& stream);
  void post(Shard& shard, std::function<void(Access, Shard&)> task);

  // ---- live_replay.cpp ----
  void run_replays();
  void prepare(Access access, Replay& replay);
  bool next_event(Access access, Replay& replay);
  void absorb_next(Access access, const std::vector<Replay*>& replays);
  void begin(StreamEngine& engine, StreamPast& past, double first) const;
  void absorb_one(StreamEngine& engine, StreamPast& past, double raw,
                  std::vector<Observation>& observed, std::vector<LeftOut>* left) const;
  std::vector<Outside> levels(StreamEngine& engine, const StreamPast& past) const;
  void run_worker(Worker& worker);
  void post(Worker& worker, std::function<void(Access)> task);

  // ---- live_alarms.cpp: on a shard's thread ----
  void judge(Shard& shard, const std::vector<LiveStream*>& streams, double now);
  Finding found_outside(const LiveStream& stream, const Rule& rule) const;
  Finding found_ahead(StreamEngine& engine, const LiveStream& stream, const Rule& rule) const;
  double judged_from(const LiveStream& stream) const;
  void judge_silence(Shard& shard, double now);
  void advance(Shard& shard, LiveStream& stream, const Rule& rule, const Finding& finding,
               double now);

  const std::shared_ptr<const Model> model_;
  const LiveSettings settings_;
  const StreamClock clock_;
  const Intake intake_;
  const std::uint64_t fingerprint_;
  std::vector<std::int32_t> store_feature_;             // of a feature of the model
  std::map<std::int32_t, std::int32_t> model_feature_;  // and back
  std::vector<std::string> notices_;

  mutable Counters counters_;
  EventLog events_;
  std::atomic<std::size_t> pending_{0};
  std::atomic<std::size_t> asides_{0};  // replays and questions that are not over
  std::atomic<std::int64_t> next_alarm_{1};
  std::atomic<std::uint64_t> committed_{0};  // the last commit that readers of the store see

  mutable std::mutex told_mutex_;  // of the three below
  std::string store_problem_;
  std::shared_ptr<const std::vector<Rule>> rules_;
  std::unordered_map<std::int64_t, std::string> alarm_streams_;

  mutable std::shared_mutex names_mutex_;
  Streams names_;  // changed by the writer's thread alone

  // The writer's.
  std::unique_ptr<Store> store_;
  std::uint64_t commit_number_ = 0;
  std::uint64_t generation_ = 0;        // of the store, when it was read
  std::int64_t alarms_reserved_ = 0;    // numbers before this one are never given again
  Transaction* transaction_ = nullptr;  // the one under way
  bool rules_given_ = false;            // by whoever started it

  std::mutex queue_mutex_;
  std::condition_variable queue_came_;
  std::deque<Request> queue_;
  bool stopping_ = false;

  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Worker> aside_;
  std::vector<std::unique_ptr<Worker>> questions_;
  std::atomic<std::size_t> next_question_{0};
  // Streams that are absorbed again.
  std::unique_ptr<Worker> replayer_;
  std::deque<std::unique_ptr<Replay>> replays_;  // guarded by the replayer's mutex
  std::thread writer_;
};

// Seconds since 1970.
double wall_seconds();
// The same as it was when the program began, moved on by a clock that nobody sets: durations are
// measured by it, so that a step of the wall clock neither hides a silence nor makes one up.
double running_seconds();

}  // namespace edict::server
