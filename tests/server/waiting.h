#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace edict::server {

// Waits, at most ten seconds on a busy machine.
inline bool holds(const std::function<bool()>& condition) {
  for (int tried = 0; tried < 400; ++tried) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  return false;
}

}  // namespace edict::server
