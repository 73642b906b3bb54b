// What passes between the threads of Live: inside of its source files.
#pragma once

#include <chrono>
#include <unordered_set>

#include "front/server/live/live.h"

namespace edict::server {

inline constexpr std::int64_t kAlarmsReserved = 10000;  // numbers; half of them are always left

// A request on its way through the shards.
struct Live::Group : std::enable_shared_from_this<Live::Group> {
  std::atomic<std::size_t> parts{0};  // that are not over
  std::atomic<std::size_t> late{0};
  std::size_t rows = 0;
  Acceptance acceptance = Acceptance::whole;
  std::mutex mutex;  // of the outcome, while there are several parts
  Outcome outcome;
  std::function<void(const Outcome&)> done;
};

struct Live::Item {
  std::shared_ptr<LiveStream> stream;
  double time;
  Observation observation;
  Put put;
  double received;
  Group* group;
  std::size_t line;  // of the body
};

// An item that is durable and waits until its stream has been absorbed again. It is a part of its
// group.
struct LiveStream::Waiting {
  Live::Item item;
  std::shared_ptr<Live::Group> group;
  std::uint64_t commit;
};

struct Live::Request {
  std::vector<Row> rows;
  std::shared_ptr<Group> group;
  // Or something else to be written.
  std::function<void(Store&)> what;
  WhenDone<> written;
  bool alone = false;  // values or streams go: what comes before and after must know which
  double came = 0;
};

// What a commit is about to change.
struct Live::Transaction {
  std::uint64_t number = 0;
  std::vector<std::vector<Item>> items;  // of each shard
  std::unordered_map<std::shared_ptr<LiveStream>, LiveStream::Written> before;
  std::vector<std::shared_ptr<LiveStream>> added;
  std::int64_t alarms_reserved = 0;
};

struct Live::Job {
  std::uint64_t commit = 0;
  std::vector<Item> items;
  std::vector<std::shared_ptr<Group>> groups;
  std::function<void(Access, Shard&)> task;  // or this
};

// A thread with an engine and a connection to the store.
struct Live::Worker {
  Worker(std::shared_ptr<const Model> model, const Guard& guard, std::unique_ptr<Store> reader)
      : engine(std::move(model), guard), store(std::move(reader)) {}

  std::mutex mutex;
  std::condition_variable came;
  bool stopping = false;
  std::deque<std::function<void(Access)>> tasks;

  StreamEngine engine;
  std::unique_ptr<Store> store;
  std::thread thread;
};

struct Live::Shard {
  Shard(std::shared_ptr<const Model> model, const Guard& guard, std::unique_ptr<Store> reader)
      : engine(std::move(model), guard), store(std::move(reader)) {}

  std::mutex mutex;
  std::condition_variable came;
  std::deque<Job> queue;
  bool stopping = false;

  StreamEngine engine;
  std::unique_ptr<Store> store;
  Streams streams;
  std::unordered_set<LiveStream*> watchful;  // with an alarm, or waiting to be judged
  std::shared_ptr<const std::vector<Rule>> rules;
  double silence_judged = 0;
  std::chrono::steady_clock::time_point looked;  // after those who are watchful
  std::thread thread;
};

// A value with which a state would not have been finite; it was left out.
struct Live::LeftOut {
  LiveStream* stream;
  double time;
  std::int32_t feature;
  std::string why;
};

// Everything that is in memory of the store.
struct Live::Held {
  Streams names;
  std::vector<Streams> of_shard;
  std::vector<std::unordered_set<LiveStream*>> watchful;
  std::unordered_map<std::int64_t, std::string> alarm_streams;
  std::vector<std::string> notices;
};

// Events of a stream as the store has them, in the order of time, for features that the model
// knows.
class StoredEvents {
 public:
  StoredEvents(const Live& live, Store& store, std::int64_t stream, double after, double until)
      : live_(live), store_(store), stream_(stream), after_(after), until_(until) {}

  // Throws Error.
  bool next();
  double time() const { return after_; }
  std::vector<Observation>& observed() { return observed_; }
  std::span<const KeptValue> values() const {
    return std::span(values_).subspan(begins_, at_ - begins_);
  }

 private:
  const Live& live_;
  Store& store_;
  std::int64_t stream_;
  double after_, until_;
  std::vector<KeptValue> values_;
  std::size_t begins_ = 0, at_ = 0;
  bool all_ = false;
  std::vector<Observation> observed_;
};

// A stream that is absorbed again from a kept state on.
struct Live::Replay {
  std::shared_ptr<LiveStream> stream;
  double before = 0;  // from the newest kept state before it
  bool knows_checkpoints = false;
  Checkpoints checkpoints;
  std::optional<KeptState> here;  // a state that the store may not have yet
  std::uint64_t known = 0;        // the last commit that it has seen
  double from = -std::numeric_limits<double>::infinity();  // its time, where it was gone on from

  StreamPast past;
  std::unique_ptr<StoredEvents> events;
  // What was committed up to this number was read, as far as it lies after `from`.
  std::uint64_t through = 0;
  std::vector<LeftOut> left;
  std::string problem;  // why it could not be done
};

void put_in(std::vector<Observation>& observed, const Observation& o);
std::string too_many(std::size_t streams);

}  // namespace edict::server
