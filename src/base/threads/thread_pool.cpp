#include "base/threads/thread_pool.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace edict {
namespace {

// Of which pool this thread runs a body, and as which worker. Null outside of every loop.
struct Inside {
  const ThreadPool* pool = nullptr;
  std::size_t worker = 0;
};
thread_local Inside inside;

// Marks a scope as a body's; a loop over another pool inside of it puts the mark back when it ends.
class Mark {
 public:
  Mark(const ThreadPool* pool, std::size_t worker)
      : outer_(std::exchange(inside, {pool, worker})) {}
  ~Mark() { inside = outer_; }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

 private:
  Inside outer_;
};

}  // namespace

Ranks* ThreadPool::ranks() const { return inside.pool ? nullptr : ranks_; }

ThreadPool::ThreadPool(std::size_t threads, Ranks* ranks) : ranks_(ranks) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  try {
    for (std::size_t worker = 1; worker < threads; ++worker)
      workers_.emplace_back([this, worker] { run(worker); });
  } catch (const std::system_error& e) {
    stop();
    throw MachineError("cannot start " + std::to_string(threads) + " threads (" + e.what() +
                       "); ask for fewer");
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

void ThreadPool::for_each(std::size_t count, const Body& body) {
  // The threads of this pool already share the outer loop: whoever is here does its part alone.
  if (inside.pool == this) {
    for (std::size_t i = 0; i < count; ++i) body(i, inside.worker);
    return;
  }
  std::lock_guard turn(turn_);
  if (workers_.empty() || count <= 1) {
    const Mark mark(this, 0);
    for (std::size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    body_ = &body;
    count_ = count;
    next_ = 0;
    running_ = workers_.size();
    ++round_;
  }
  start_.notify_all();
  take_indices(0);
  std::unique_lock lock(mutex_);
  // Every worker takes part in every round, if only to find no index left: none can still be
  // reading this round's body when the next one begins.
  done_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::run(std::size_t worker) {
  std::size_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take_indices(worker);
    {
      std::lock_guard lock(mutex_);
      --running_;
    }
    done_.notify_one();
  }
}

void ThreadPool::take_indices(std::size_t worker) {
  const Mark mark(this, worker);
  for (;;) {
    std::size_t index;
    {
      std::lock_guard lock(mutex_);
      if (next_ >= count_) return;
      index = next_++;
    }
    try {
      (*body_)(index, worker);
    } catch (...) {
      std::lock_guard lock(mutex_);
      // Indices are taken in order: every lower one has begun and will end, so the lowest that
      // throws is known then, and the higher ones that have not begun need not.
      next_ = count_;
      if (!failure_ || index < failed_index_) {
        failure_ = std::current_exception();
        failed_index_ = index;
      }
    }
  }
}

}  // namespace edict
