// Work that threads share and whose results leave in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "base/threads/thread_pool.h"

namespace edict {

// make(i) runs on the pool's threads for every i below count; take(result of i) is called for 0, 1,
// 2, … by one thread at a time, while others go on making. Whoever is far ahead of what was taken
// waits, so that the memory is that of a few results a thread. The first exception ends it.
template <class Make, class Take>
void for_each_in_order(ThreadPool& pool, std::size_t count, const Make& make, const Take& take) {
  using Result = decltype(make(std::size_t{}));
  const std::size_t ahead = 2 * pool.size();
  std::mutex mutex;  // guards everything below
  std::condition_variable taken;
  std::map<std::size_t, Result> made;
  std::size_t next = 0;  // to be taken
  bool taking = false, failed = false;
  pool.for_each(count, [&](std::size_t i, std::size_t) {
    try {
      std::unique_lock lock(mutex);
      // Indices are given out in order: whoever makes the next one is never made to wait.
      taken.wait(lock, [&] { return failed || i < next + ahead; });
      if (failed) return;
      lock.unlock();
      Result result = make(i);
      lock.lock();
      made.emplace(i, std::move(result));
      while (!failed && !taking && !made.empty() && made.begin()->first == next) {
        auto first = made.extract(made.begin());
        taking = true;
        lock.unlock();
        take(std::move(first.mapped()));
        lock.lock();
        taking = false;
        ++next;
        taken.notify_all();
      }
    } catch (...) {
      {
        const std::lock_guard lock(mutex);
        failed = true;
      }
      taken.notify_all();
      throw;
    }
  });
}

}  // namespace edict
