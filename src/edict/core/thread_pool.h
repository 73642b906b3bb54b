// A fixed set of threads that share the indices of a loop. Which thread runs an index is not
// fixed, so what an index computes must go to a place of its own; then the result does not depend
// on the number of threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace edict {

class ThreadPool {
 public:
  // 0 threads: as many as the machine has.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const { return workers_.size() + 1; }

  // Calls body(index, worker) for every index below count, worker < size(), and returns when all
  // are done. The first exception thrown by the lowest index is rethrown.
  void for_each(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body);

 private:
  void run(std::size_t worker);
  void take_indices(std::size_t worker);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(std::size_t, std::size_t)>* body_ = nullptr;
  std::size_t count_ = 0, next_ = 0, running_ = 0, round_ = 0;
  std::exception_ptr failure_;
  std::size_t failed_index_ = 0;
  bool stop_ = false;
};

}  // namespace edict
