// What passes between the threads of a live server.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "front/server/ingest/incoming.h"
#include "front/server/live/live_stream.h"
#include "front/server/live/result.h"
#include "front/server/store/store.h"

namespace edict::server {

class Live;
class Transaction;
struct LiveContext;
struct Shard;

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

// What becomes of a request where some values cannot be taken.
enum class Acceptance : std::uint8_t { whole, partial };

// What a task on one of the threads may use.
struct Access {
  StreamEngine& engine;
  Store& store;
  Live& live;
};

using Streams = std::unordered_map<std::string, std::shared_ptr<LiveStream>>;

// A request of values on its way through the shards.
struct Group : std::enable_shared_from_this<Group> {
  // A part of it is over; with the last one it is answered.
  void release(LiveContext& context);
  // It is answered that nothing was stored.
  void fail(const std::string& why);

  std::atomic<std::size_t> parts{0};  // that are not over
  std::atomic<std::size_t> late{0};
  std::size_t rows = 0;
  Acceptance acceptance = Acceptance::whole;
  std::mutex mutex;  // of the outcome, while there are several parts
  Outcome outcome;
  std::function<void(const Outcome&)> done;
};

// A value that is durable.
struct Item {
  std::shared_ptr<LiveStream> stream;
  double time;
  Observation observation;
  Put put;
  double received;
  Group* group;
  std::size_t line;  // of the body
};

// An item that waits until its stream has been absorbed again. It is a part of its group.
struct LiveStream::Waiting {
  Item item;
  std::shared_ptr<Group> group;
  std::uint64_t commit;
};

// To the writer: values, or something else to be written.
struct Request {
  std::vector<Row> rows;
  std::shared_ptr<Group> group;
  std::function<void(Transaction&)> change;
  WhenDone<> changed;
  bool alone = false;  // values or streams go: what comes before and after must know which
  double came = 0;
};

// To a shard: what a commit has stored, or a task.
struct Job {
  std::uint64_t commit = 0;
  std::vector<Item> items;
  std::vector<std::shared_ptr<Group>> groups;
  std::function<void(Access, Shard&)> task;
};

}  // namespace edict::server
