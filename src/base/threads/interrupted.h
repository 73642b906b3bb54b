// How long work is left half-way: whoever started it sets a flag, whoever does it looks at the flag
// often and throws this.
#pragma once

#include <atomic>
#include <exception>

namespace edict {

class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

// Null: nobody will ask to stop.
using StopFlag = const std::atomic<bool>*;

inline bool stop_requested(StopFlag stop) { return stop && stop->load(std::memory_order_relaxed); }
inline void leave_if_stopped(StopFlag stop) {
  if (stop_requested(stop)) throw Interrupted();
}

}  // namespace edict
