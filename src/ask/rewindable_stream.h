// One series whose observations may come late, twice or corrected: the states before its last
// events are kept, and an observation that belongs between them is put there and what followed is
// absorbed again. The result is bit for bit what it would have been in order.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "ask/stream_engine.h"

namespace edict {

class RewindableStream {
 public:
  // Keeps the states before the last `events` events. The engine may serve many streams.
  RewindableStream(StreamEngine& engine, StreamState start, std::size_t events);

  enum class Outcome {
    appended,   // came in order
    replayed,   // came late, or corrects an earlier value
    unchanged,  // was known already
  };
  // Throws Error for a time before everything that is kept or at an event that no longer is, and
  // what StreamEngine::observe throws; the stream is then as before.
  Outcome observe(double time, std::span<const Observation> observed);

  const StreamState& state() const { return state_; }
  // No observation before this can be taken any more, nor at it once an event was forgotten.
  double oldest() const { return kept_.empty() ? state_.time() : kept_.front().before.time(); }

 private:
  struct Kept {
    StreamState before;
    double time;
    std::vector<Observation> observed;  // by feature
  };

  StreamEngine& engine_;
  StreamState state_;
  std::deque<Kept> kept_;
  std::size_t events_;
  bool forgotten_ = false;  // whether there were more events than are kept
};

}  // namespace edict
