// Who does what, among processes on any number of machines that see one folder. A piece of work has
// a name; the process that makes the file NAME.claim.0 there has claimed it. As long as it works it
// touches the file. A claim that nobody touched for a while, or of a process of this machine that
// is not there, belonged to one that is gone: the next one makes NAME.claim.1, and so on. Making a
// file that must not be there yet is atomic, on NFS too, so that no claim is ever taken by two.
//
// Whether a claim is old is told by the clock of the file system alone: clocks of machines differ.
//
// A process that only seemed to be gone and comes back finds its work done twice. That does no
// harm where, as here, the same work gives the same bytes and files are replaced whole.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/threads/interrupted.h"

namespace edict {

class Claim;

class Claims {
 public:
  // A claim that was not touched for `stale` counts as left. It is touched ten times as often.
  explicit Claims(std::filesystem::path folder,
                  std::chrono::milliseconds stale = std::chrono::seconds(60));

  // Nothing where another process works on it.
  std::optional<Claim> take(const std::string& name) const;

 private:
  struct Found {
    int generation = -1;  // of the latest claim; -1: none
    bool alive = false;
  };
  Found look(const std::string& name) const;
  std::filesystem::path file(const std::string& name, int generation) const;

  std::filesystem::path folder_;
  std::chrono::milliseconds stale_;
};

// Work that this process does. Let go, it is free again.
class Claim {
 public:
  Claim(Claim&&) noexcept;
  Claim& operator=(Claim&&) noexcept;
  ~Claim();

 private:
  friend class Claims;
  struct Held;
  explicit Claim(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

// Does all of `count` pieces of work together with whoever else does: work(i) for one that is not
// done(i) and that nobody else is at, until all are done; others are waited for, and taken over
// where they are gone. Throws what `work` throws, and Interrupted when `stop` is set.
void work_through(const Claims& claims, std::size_t count,
                  const std::function<std::string(std::size_t)>& name,
                  const std::function<bool(std::size_t)>& done,
                  const std::function<void(std::size_t)>& work, StopFlag stop);

// Waits a little for others to come further. Throws Interrupted when `stop` is set.
void wait_for_others(StopFlag stop);

}  // namespace edict
