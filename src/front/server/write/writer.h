// The one thread that writes to the store: what waits together is one transaction, and is passed on
// when it is durable.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "front/server/live/live_context.h"
#include "front/server/live/messages.h"
#include "front/server/live/registry.h"
#include "front/server/write/transaction.h"

namespace edict::server {

class Writer {
 public:
  // What others do with what it has written.
  struct Outlets {
    // Takes what is durable to a shard.
    std::function<void(std::size_t shard, Job job)> deliver;
    // Another server has written to the store: nothing in memory holds.
    std::function<void(Transaction&)> read_again;
  };

  Writer(LiveContext& context, Registry& registry, std::unique_ptr<Store> store);
  ~Writer() { stop(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Before it starts and after it stops the store is the caller's.
  Store& store() { return *store_; }
  void start(Outlets outlets);
  // Writes what waits, and ends.
  void stop();

  // Any thread. `done` is called exactly once: on another thread when everything is durable and
  // absorbed, or at once for what is full or invalid.
  void submit(std::vector<Row> rows, std::function<void(const Outcome&)> done,
              Acceptance acceptance);
  // Runs inside of a transaction, which is durable when `changed` is called, or it has failed.
  // `alone`: in one of its own.
  void change(std::function<void(Transaction&)> what, WhenDone<> changed = {}, bool alone = false);
  // Empty while the store can be written to and read, else what it said last.
  std::string store_problem() const;
  // From now on no thread waits longer than this for the store, because the server ends.
  void limit_wait(std::chrono::milliseconds most) { store_->limit_wait(most); }

 private:
  void push(Request request);
  void run();
  std::vector<Request> next_requests();

  void commit(std::vector<Request>& requests);
  void begin(Transaction& transaction);
  void fill(Request& request, Transaction& transaction);
  void take(Request& request, Transaction& transaction);
  std::vector<Item> items_of(Request& request, Transaction& transaction);
  void put(Request& request, std::vector<Item>& own, Transaction& transaction);
  void commit_each(std::vector<Request>& requests);
  void fail(Request& request, const std::string& problem);
  void set_problem(const std::string& problem);
  void pass_on(std::vector<Request>& requests, Transaction& transaction);

  LiveContext& context_;
  Registry& registry_;
  const std::unique_ptr<Store> store_;
  Outlets outlets_;
  std::uint64_t commit_number_ = 0;
  std::uint64_t generation_ = 0;  // of the store, when it was read

  std::mutex queue_mutex_;
  std::condition_variable came_;
  std::deque<Request> queue_;
  bool stopping_ = false;

  mutable std::mutex problem_mutex_;
  std::string problem_;
  std::thread thread_;
};

}  // namespace edict::server
