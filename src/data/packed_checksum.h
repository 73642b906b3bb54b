// What guards the sections of a packed file. It keeps mistakes of disks and cables out, and no
// person who can compute it as well: what is read is checked as if there were none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/hash.h"

namespace edict {

// FNV-1a by words of eight bytes in eight lanes, which a processor takes at once: as fast as memory
// is read. A lane that has met another word ends in another state, whatever comes after it.
class PackedChecksum {
 public:
  PackedChecksum() {
    for (std::size_t i = 0; i < kLanes; ++i) lanes_[i] = 0xcbf29ce484222325u + i;
  }
  void add(const void* from, std::size_t count) {
    const auto* p = static_cast<const unsigned char*>(from);
    size_ += count;
    if (carried_ > 0) {
      const std::size_t piece = std::min(count, kBlock - carried_);
      std::memcpy(carry_ + carried_, p, piece);
      carried_ += piece, p += piece, count -= piece;
      if (carried_ < kBlock) return;
      take(carry_);
      carried_ = 0;
    }
    for (; count >= kBlock; p += kBlock, count -= kBlock) take(p);
    if (count > 0) std::memcpy(carry_, p, count);
    carried_ = count;
  }
  std::string hex() const {
    Hash hash;
    hash.numbers(std::span<const std::uint64_t>(lanes_)).number(size_).bytes(carry_, carried_);
    return hash.hex();
  }

 private:
  static constexpr std::size_t kLanes = 8, kBlock = 8 * kLanes;
  void take(const unsigned char* block) {
    std::uint64_t words[kLanes];
    std::memcpy(words, block, kBlock);
    for (std::size_t i = 0; i < kLanes; ++i) lanes_[i] = (lanes_[i] ^ words[i]) * 0x100000001b3u;
  }

  std::array<std::uint64_t, kLanes> lanes_;
  unsigned char carry_[kBlock] = {};
  std::size_t carried_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace edict
