#include "edict/core/thread_pool.h"

namespace edict {

ThreadPool::ThreadPool(std::size_t threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t worker = 1; worker < threads; ++worker)
    workers_.emplace_back([this, worker] { run(worker); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

void ThreadPool::for_each(std::size_t count,
                          const std::function<void(std::size_t, std::size_t)>& body) {
  if (workers_.empty() || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    body_ = &body;
    count_ = count;
    next_ = 0;
    failure_ = nullptr;
    running_ = workers_.size();
    ++round_;
  }
  start_.notify_all();
  take_indices(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
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
      if (!failure_ || index < failed_index_) {
        failure_ = std::current_exception();
        failed_index_ = index;
      }
    }
  }
}

}  // namespace edict
