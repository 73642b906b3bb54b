// A thread with an engine and a connection to the store, and the streams that belong to it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "front/server/live/live_context.h"
#include "front/server/live/messages.h"

namespace edict::server {

struct Shard {
  Shard(const LiveContext& context, std::unique_ptr<Store> reader)
      : engine(context.model, context.settings.guard), store(std::move(reader)) {}

  std::mutex mutex;  // of the following three
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
