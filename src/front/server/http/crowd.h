// Connections that wait for their clients, and the memory that all of them may take together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace edict::server {

// A connection that waits for its client to send a request.
class Waiting {
 public:
  virtual ~Waiting() = default;
  // Closes it, unless a request has come meanwhile.
  virtual void give_way() = 0;
};

// All of them, in the order in which they began to wait. Half a request, or an idle connection,
// costs a client nothing; where no other fits in, the oldest goes.
class Crowd {
 public:
  std::uint64_t join(std::weak_ptr<Waiting> one) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(++last_, std::move(one));
    return last_;
  }
  void leave(std::uint64_t place) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(place);
  }
  // Whether there was one to be closed.
  bool close_oldest() {
    std::shared_ptr<Waiting> oldest;
    {
      const std::lock_guard lock(mutex_);
      while (!oldest && !waiting_.empty()) {
        oldest = waiting_.begin()->second.lock();
        waiting_.erase(waiting_.begin());
      }
    }
    if (oldest) oldest->give_way();
    return oldest != nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Waiting>> waiting_;
  std::uint64_t last_ = 0;
};

// Bytes of memory for one purpose.
class Budget {
 public:
  explicit Budget(std::size_t most) : most_(most) {}
  std::size_t most() const { return most_; }

  // What one connection holds of it.
  class Share {
   public:
    explicit Share(Budget& budget) : budget_(budget) {}
    ~Share() { let_go(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Holds this many bytes from now on; whether that fits beside what others hold. Alone anything
    // does.
    bool hold(std::size_t bytes) {
      const std::size_t all = budget_.held_ += bytes - held_;
      held_ = bytes;
      return all <= budget_.most_ || all == bytes;
    }
    void let_go() { budget_.held_ -= std::exchange(held_, 0); }

   private:
    Budget& budget_;
    std::size_t held_ = 0;
  };

 private:
  const std::size_t most_;
  std::atomic<std::size_t> held_{0};
};

}  // namespace edict::server
