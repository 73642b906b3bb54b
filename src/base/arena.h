// Memory of one pass: blocks are handed out one after the other and all given back at once. The
// addresses stay valid until reset(), and after the first pass nothing is allocated any more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "base/types.h"

namespace edict {

template <class S>
class Arena {
 public:
  S* take(Index count) {
    const auto need = static_cast<std::size_t>((count + kAlign - 1) / kAlign * kAlign);
    if (need > static_cast<std::size_t>(end_ - next_)) [[unlikely]]
      open_slab(need);
    S* const start = next_;
    next_ += need;
    taken_ += need;
    return start;
  }

  void reset() {
    current_ = taken_ = 0;
    next_ = slabs_.empty() ? nullptr : slabs_[0].data;
    end_ = slabs_.empty() ? nullptr : next_ + slabs_[0].size;
  }

  std::size_t bytes() const { return taken_ * sizeof(S); }

 private:
  static constexpr Index kAlign = 64 / sizeof(S);
  static constexpr std::size_t kSlab = std::size_t{1} << 18;

  struct Slab {
    explicit Slab(std::size_t n)
        : data(static_cast<S*>(::operator new (n * sizeof(S), std::align_val_t{64}))), size(n) {}
    Slab(Slab&& other) noexcept : data(std::exchange(other.data, nullptr)), size(other.size) {}
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;
    Slab& operator=(Slab&&) = delete;
    ~Slab() {
      if (data) ::operator delete (data, std::align_val_t{64});
    }
    S* data;
    std::size_t size;
  };

  // The next slab with enough room, or a new one.
  [[gnu::noinline]] void open_slab(std::size_t need) {
    if (next_ != nullptr) ++current_;
    while (current_ < slabs_.size() && slabs_[current_].size < need) ++current_;
    if (current_ == slabs_.size()) slabs_.emplace_back(std::max(need, kSlab));
    next_ = slabs_[current_].data;
    end_ = next_ + slabs_[current_].size;
  }

  std::vector<Slab> slabs_;
  S *next_ = nullptr, *end_ = nullptr;  // what is left of slab `current_`
  std::size_t current_ = 0, taken_ = 0;
};

}  // namespace edict
