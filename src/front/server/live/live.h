// Many streams, alive: what comes in is made durable, absorbed, watched for alarms and published to
// those who listen, in this order, and only then is it answered.
//
//   submit → Writer (one thread: group commit) → Shards (a thread and an engine each) → done
//                     ↓                            ↕ Replays     ↓ AlarmWatch, StateKeeper
//                Transaction, Admission                          ↓ questions
//
// The result is bit for bit what `edict predict` gives for the same observations, whatever way they
// came. While a stream is absorbed again its own requests and questions wait, those of others do
// not. Live itself puts the parts together and changes streams as a whole.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "front/server/alarms/alarms.h"
#include "front/server/alarms/event_log.h"
#include "front/server/ingest/incoming.h"
#include "front/server/ingest/stream_clock.h"
#include "front/server/live/live_context.h"
#include "front/server/live/live_stream.h"
#include "front/server/live/messages.h"
#include "front/server/live/registry.h"
#include "front/server/live/result.h"
#include "front/server/live/task_thread.h"
#include "front/server/shards/absorption.h"
#include "front/server/shards/alarm_watch.h"
#include "front/server/shards/shards.h"
#include "front/server/store/store.h"
#include "front/server/write/writer.h"

namespace edict::server {

struct StoredStreams;

class Live {
 public:
  using Access = server::Access;
  using Streams = server::Streams;
  using Visit = Absorption::Visit;

  // The store's streams are there at once; their states are read when they are first needed.
  Live(std::shared_ptr<const Model> model, const LiveSettings& settings,
       std::unique_ptr<Store> store, std::vector<Rule> rules);
  // Finishes what was taken, and keeps every state.
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  const Model& model() const { return *context_.model; }
  const StreamClock& clock() const { return context_.clock; }
  const Intake& intake() const { return context_.intake; }
  const LiveSettings& settings() const { return context_.settings; }
  const Counters& counters() const { return context_.counters; }
  EventLog& event_log() { return context_.events; }
  std::size_t streams() const { return registry_.size(); }
  std::size_t pending() const { return context_.pending; }
  // Seconds since 1970, by a clock that is never set (running_seconds).
  double now() const { return context_.now(); }
  // What the operator should know.
  const std::vector<std::string>& notices() const { return notices_; }
  // Empty while the store can be written to and read, else what it said last.
  std::string store_problem() const { return writer_.store_problem(); }
  // From now on no thread waits longer than this for the store, because the server ends.
  void limit_wait(std::chrono::milliseconds most) { writer_.limit_wait(most); }

  // Any thread. `done` is called exactly once: on another thread when everything is durable and
  // absorbed, or at once for what is full or invalid.
  void submit(std::vector<Row> rows, std::function<void(const Outcome&)> done,
              Acceptance acceptance = Acceptance::whole) {
    writer_.submit(std::move(rows), std::move(done), acceptance);
  }
  Outcome submit_and_wait(std::vector<Row> rows, Acceptance acceptance = Acceptance::whole);
  // Empty where there is a stream of this name or room for it, else why it cannot begin.
  std::string no_room_for(const std::string& name) const { return registry_.no_room_for(name); }
  // Into the table of what cannot be read; durable when it returns. Throws Error.
  void reject(const std::string& source, const std::string& payload, const std::string& detail);

  // Runs on the writer's thread inside of a transaction, which is durable when `done` is called,
  // or it has failed. `alone`: in a transaction of its own.
  void write(std::function<void(Store&)> what, WhenDone<> done, bool alone = false);

  // A question of a stream as it is when everything that was answered is absorbed; nullptr where
  // there is none of this name. It runs apart from the shard, on a copy, and may take long.
  // Exceptions of a task are its own business.
  void on_stream(const std::string& name, std::function<void(Access, LiveStream*)> task);
  // On every shard, with all of its streams (not necessarily loaded), and how many shards have
  // yet to do it.
  void on_every_shard(std::function<void(Access, Streams&, std::size_t remaining)> task) {
    shards_.on_every(std::move(task));
  }
  // On a thread of its own, for what may take very long.
  void aside(std::function<void(Access)> task) { aside_->post(std::move(task)); }

  // The past of a stream, and a question about what follows it (absorption.h).
  void restore(Access access, StreamPast& past, double before) const {
    absorption_.restore(access.store, past, before);
  }
  void replay(Access access, StreamPast& past, double until, const Visit& visit) const {
    absorption_.replay(access.engine, access.store, past, until, visit);
  }
  StreamEngine::Question question(const StreamPast& past, double time) const {
    return absorption_.question(past, time);
  }
  // The model's number of a feature that the store has, or −1.
  std::int32_t model_feature(std::int32_t kept) const { return context_.model_feature(kept); }

  // ---- live_changes.cpp; `who`: for the audit ----
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
  std::vector<Rule> rules() const { return *alarms_.rules(); }
  void set_rules(std::vector<Rule> rules, const std::string& who, WhenDone<> done);

 private:
  struct Change;

  void check_store();
  void take(StoredStreams held);
  void read_again(Transaction& transaction);
  void start();
  void finish();

  void forget_stream(Shard& shard, LiveStream& stream);

  LiveContext context_;
  const Absorption absorption_;
  const bool rules_given_;  // by the operator
  std::vector<std::string> notices_;
  Registry registry_;
  Writer writer_;
  AlarmWatch alarms_;
  Shards shards_;
  std::unique_ptr<TaskThread> aside_;
  std::vector<std::unique_ptr<TaskThread>> questions_;
  std::atomic<std::size_t> next_question_{0};
};

}  // namespace edict::server
