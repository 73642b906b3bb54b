// What passes between the threads of Live: inside of its three source files.
#pragma once

#include <chrono>
#include <unordered_set>

#include "edict/server/live.h"

namespace edict::server {

// A request on its way through the shards.
struct Live::Group {
  std::atomic<std::size_t> shards{0};
  std::atomic<std::size_t> late{0};
  std::size_t rows = 0;
  Outcome outcome;
  std::function<void(const Outcome&)> done;

  void refuse(std::size_t row, const std::string& why) {
    ++outcome.refused;
    if (outcome.refusals.size() < kRefusalsTold) outcome.refusals.push_back({row, why});
  }
};

struct Live::Item {
  std::shared_ptr<LiveStream> stream;
  double time;
  Observation observation;
  Put put;
  double received;
  Group* group;
};

struct Live::Request {
  std::vector<Row> rows;
  std::shared_ptr<Group> group;
  // Or something else to be written.
  std::function<void(Store&)> what;
  std::function<void(const std::string*)> written;
  bool alone = false;  // streams appear or go: what follows must see that
  double came = 0;
};

struct Live::Job {
  std::uint64_t commit = 0;
  std::vector<Item> items;
  std::vector<std::shared_ptr<Group>> groups;
  std::function<void(Access, Shard&)> task;  // or this
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

}  // namespace edict::server
