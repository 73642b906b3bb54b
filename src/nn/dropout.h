// Inverted dropout: a unit is left out with probability `rate`, the others grow by 1/(1 − rate), so
// that nothing has to change when it is off. Masks are drawn from a generator the caller seeds per
// series, never per thread or chunk.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/generator.h"
#include "base/types.h"

namespace edict {

class Dropout {
 public:
  explicit Dropout(double rate)
      : rate_(rate), threshold_(static_cast<std::uint64_t>(std::lround(rate * 65536.0))) {}
  static Dropout off() { return Dropout(0.0); }

  bool active() const { return rate_ > 0; }

  // Four units share one draw of 64 bits; the rate is met to 2⁻¹⁷.
  template <class S>
  void draw(Generator& rng, Index n, S* mask) const {
    const S kept = static_cast<S>(1.0 / (1.0 - rate_));
    for (Index i = 0; i < n;) {
      std::uint64_t bits = rng.bits();
      for (Index end = std::min(n, i + 4); i < end; ++i, bits >>= 16)
        mask[i] = (bits & 0xffff) < threshold_ ? S(0) : kept;
    }
  }

 private:
  double rate_;
  std::uint64_t threshold_;
};

// y ← y∘mask; forward and backward are the same.
template <class S>
void apply_mask(const S* mask, Index n, S* y) {
  for (Index i = 0; i < n; ++i) y[i] *= mask[i];
}

}  // namespace edict
