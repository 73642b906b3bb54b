// What a model remembers of one series: the time of the last observation and the state after it, a
// few hundred bytes that can be copied, kept as bytes, and brought back by a later program.
//
//   8 bytes  magic and version           8    the solver's step (double)
//   8        fingerprint of the model    4    N of all members, and 4: members after the first
//   8        time (double)               4·N  state (float), one member after the other
//   8 for each further member, its step (double)                    8  hash of all before it
//
// The N numbers are h and, where a model remembers observations, what it remembers of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace edict {

class StreamState {
 public:
  StreamState() = default;  // nothing: StreamEngine::begin makes one that can be used

  std::vector<std::byte> to_bytes() const;
  // Throws Error for bytes that are no state or are damaged.
  static StreamState from_bytes(std::span<const std::byte> bytes);

  // The time of a stream whose clock starts at its first event, before there is one.
  static constexpr double kNotStarted = -std::numeric_limits<double>::infinity();

  // Of the last observation, or of the start before any; in the data's unit.
  double time() const { return time_; }
  // Of the model whose state it is (fingerprint in model/model.h).
  std::uint64_t model() const { return model_; }

  bool operator==(const StreamState&) const = default;

 private:
  friend class StreamEngine;

  std::uint64_t model_ = 0;
  double time_ = 0.0;
  double dt_ = 0.0;               // the step that an adaptive solver tries next
  std::vector<double> other_dt_;  // of an ensemble's members after the first
  std::vector<float> h_;          // and what is remembered; one member after the other
};

}  // namespace edict
