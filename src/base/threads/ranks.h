// Processes that do one computation together, as those that mpirun starts. Each of them runs the
// same program on the same data; they differ only in which chunks of series they compute, and tell
// each other what came out.
//
// Every function here is called by all processes alike, in the same order, by one thread of each.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace edict {

class Ranks {
 public:
  using Bytes = std::vector<std::byte>;

  virtual ~Ranks() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;

  // Comes back when all are here. Throws the same Error in all of them where one has a failure to
  // tell (null: none), and lets all see together that one was asked to stop.
  virtual void meet(const std::string* failure) = 0;
  virtual const std::atomic<bool>& stop_flag() const = 0;

  // Gives to[r] to process r, and gets what each has for this one, by rank.
  virtual std::vector<Bytes> exchange(const std::vector<Bytes>& to) = 0;

  // What each gives, by rank.
  virtual std::vector<Bytes> gather(std::span<const std::byte> own) = 0;
};

}  // namespace edict
