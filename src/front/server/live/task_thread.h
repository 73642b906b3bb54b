// A thread with an engine and a connection to the store, for what may take long.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "front/server/live/live_context.h"
#include "front/server/live/messages.h"

namespace edict::server {

class TaskThread {
 public:
  TaskThread(LiveContext& context, Live& live, std::unique_ptr<Store> store);
  ~TaskThread() { stop(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void start();
  // Does what waits, and ends.
  void stop();
  // What a task throws is its own business.
  void post(std::function<void(Access)> task);

 private:
  void run();

  LiveContext& context_;
  Live& live_;
  StreamEngine engine_;
  const std::unique_ptr<Store> store_;

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::function<void(Access)>> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace edict::server
