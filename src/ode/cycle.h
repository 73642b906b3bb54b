// Left alone, a state comes to rest, or rounding leads it around a cycle of a few steps. From then
// on steps are known without being taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace edict {

// Brent's search: the state is compared, bit for bit, with one that is remembered, which is
// replaced after 1, 2, 4, … steps.
template <class S>
class CycleSearch {
 public:
  // For states of at most so many numbers nothing will be allocated.
  void reserve(std::size_t size) { remembered_.reserve(size); }

  void begin() { since_ = 0, lap_ = 0; }

  // After each step, all of one length: how many of the `left` steps lead back to this very state.
  std::int64_t idle(const S* state, std::size_t size, std::int64_t left) {
    if (lap_ > 0) {
      ++since_;
      if (std::memcmp(state, remembered_.data(), size * sizeof(S)) == 0)
        return left / since_ * since_;
      if (since_ < lap_) return 0;
    }
    remembered_.assign(state, state + size);
    lap_ = lap_ > 0 ? 2 * lap_ : 1;
    since_ = 0;
    return 0;
  }

 private:
  std::vector<S> remembered_;
  std::int64_t since_ = 0, lap_ = 0;
};

}  // namespace edict
