// What a model remembers of one series: the time of the last observation and the state after it, as
// plain bytes that can be copied, kept and brought back by a later program.
//
//   8 bytes  magic and version        8  the solver's step (double)
//   8        fingerprint of the model 4  H, 4 zero
//   8        time (double)            4·H  h (float)         8  hash of all before it
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace edict {

class StreamState {
 public:
  StreamState() = default;  // nothing: StreamEngine::begin makes one that can be used

  // Throws Error for bytes that are no state or are damaged.
  static StreamState from_bytes(std::span<const std::byte> bytes);
  std::span<const std::byte> bytes() const { return bytes_; }

  // Of the last observation, or of the start before any; in the data's unit.
  double time() const;
  // Of the model whose state it is (fingerprint in model/model.h).
  std::uint64_t model() const;

  bool operator==(const StreamState&) const = default;

 private:
  friend class StreamEngine;
  void write(std::uint64_t model, double time, double dt, std::span<const float> h);
  double dt() const;
  std::span<const float> h() const;

  std::vector<std::byte> bytes_;
};

}  // namespace edict
