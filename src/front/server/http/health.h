// Whether the server can do its work. A thread of its own writes to the store now and then, so that
// a failure is known before a client meets it, and its end is known without a client that writes.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "front/server/live/live.h"

namespace edict::server {

class Health {
 public:
  explicit Health(Live& live);
  ~Health();
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  // Another part that must work: `problem` says why it does not, or nothing.
  void watch(std::string name, std::function<std::string()> problem);
  // Its `problem` is not called any more when this returns.
  void forget(const std::string& name);

  struct Check {
    std::string name, problem;  // empty: all is well
  };
  // The store first. Any thread, at once.
  std::vector<Check> checks() const;

 private:
  struct Probe;

  void run();
  std::string store_problem() const;

  Live& live_;
  const std::shared_ptr<Probe> probe_;  // also held by what the store has not answered yet
  mutable std::mutex mutex_;            // of the two below
  std::vector<std::pair<std::string, std::function<std::string()>>> parts_;
  bool stopping_ = false;
  std::condition_variable stop_;
  std::thread thread_;
};

}  // namespace edict::server
