// The states of a stream's past from which it can be absorbed again: after every 32nd event, the
// further back the sparser. One that lies d events back has another at most d / 2 + 32 before it,
// and of n events there are 2 log₂(n / 32) + 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "front/server/store/store.h"

namespace edict::server {

inline constexpr std::int64_t kKeepEvery = 32;  // events

class Checkpoints {
 public:
  // Those of the store, in the order of time; they come without bytes.
  void set_kept(std::vector<KeptState> kept);
  // Whether a state after so many events is to be added.
  bool wants(std::int64_t events) const {
    return events > 0 && events % kKeepEvery == 0 &&
           (list_.empty() || list_.back().state.events < events);
  }
  void add(KeptState state);
  // Those at or after a time have seen what is no longer so.
  void drop_from(double time);
  // The one at `base` is all that is left of what lies before it: it stays, and those before it
  // go.
  void set_base(double base);

  // What the store lacks, and the times of what it should forget. What is given here keeps its
  // bytes until the next call, for a replay that begins before the store has it.
  struct Unwritten {
    std::vector<KeptState> states;
    std::vector<double> obsolete;
  };
  Unwritten take_unwritten();
  bool has_unwritten() const { return unwritten_; }
  // The newest one before a time whose bytes are here, or nullptr.
  const KeptState* newest_here(double before) const;
  // The newest one whose last value had come by `received`, or nullptr.
  const KeptState* newest_received(double received) const;
  std::size_t size() const { return list_.size(); }

 private:
  struct Entry {
    KeptState state;
    bool kept;
  };
  void thin();

  std::vector<Entry> list_;
  std::vector<double> obsolete_;
  double base_ = -std::numeric_limits<double>::infinity();
  bool unwritten_ = false;
};

// A commit that put values before others of the same stream.
struct LateCommit {
  std::uint64_t commit;
  double time;  // of the first of them
};
// Of several only those matter before which no later commit went.
void add_late(std::vector<LateCommit>& late, LateCommit own);
// From which time on a state is wrong that saw what was committed up to `through`.
double valid_before(const std::vector<LateCommit>& late, std::uint64_t through);
// Nothing asks for what came up to `through` again.
void forget_late(std::vector<LateCommit>& late, std::uint64_t through);

}  // namespace edict::server
