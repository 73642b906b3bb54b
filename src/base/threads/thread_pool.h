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

class Ranks;

class ThreadPool {
 public:
  using Body = std::function<void(std::size_t index, std::size_t worker)>;

  // 0 threads: as many as the machine has. Throws Error where the system refuses to start them.
  // `ranks`: other processes that take part in the work, each with threads of its own.
  explicit ThreadPool(std::size_t threads, Ranks* ranks = nullptr);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const { return workers_.size() + 1; }
  // Null inside of a body: there each process is at another place.
  Ranks* ranks() const;

  // Calls body(index, worker) for every index below count, worker < size(), and returns when all
  // are done. No two calls with the same worker run at once, so that scratch can be kept by worker.
  //
  // If bodies throw, the exception of the lowest such index is rethrown, as in a plain loop; higher
  // indices may or may not have run.
  //
  // Called from inside a body of the same pool, the loop runs in that body's thread, as its worker.
  // Other threads that call at the same time wait for their turn; two pools must not wait for each
  // other.
  void for_each(std::size_t count, const Body& body);

 private:
  void run(std::size_t worker);
  void take_indices(std::size_t worker);
  void stop();

  Ranks* ranks_;
  std::vector<std::thread> workers_;  // the caller of for_each is worker 0
  std::mutex turn_;                   // held by the thread whose loop is running
  std::mutex mutex_;                  // guards everything below
  std::condition_variable start_, done_;
  const Body* body_ = nullptr;
  std::size_t count_ = 0, next_ = 0, running_ = 0, round_ = 0;
  std::exception_ptr failure_;
  std::size_t failed_index_ = 0;
  bool stop_ = false;
};

}  // namespace edict
