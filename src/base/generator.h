// Random numbers by counting: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy
// as 1, 2, 3"), with distributions of its own, because the standard library's differ between
// implementations and results here must be the same bits everywhere.
//
// A generator is keyed by (seed, purpose, index). Two keys that differ anywhere draw independently,
// and nothing needs to be kept to go on later: epoch e shuffles with Generator(seed, "order", e),
// whoever asks and whenever.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace edict {

class Generator {
 public:
  explicit Generator(std::uint64_t seed, std::string_view purpose = {}, std::uint64_t index = 0)
      : key_{low(seed), high(seed)}, counter_{0, low(hash_of(purpose)), low(index), high(index)} {}

  std::uint64_t bits() {
    if (left_ == 0) {
      const auto block = philox(counter_, key_);
      ++counter_[0];
      words_ = {block[0] | std::uint64_t{block[1]} << 32, block[2] | std::uint64_t{block[3]} << 32};
      left_ = 2;
    }
    return words_[2 - left_--];
  }

  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // Uniform in {0, …, n−1} (Lemire's multiplication; the bias is below n/2⁶⁴).
  std::uint64_t below(std::uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * n) >> 64);
  }

  // Standard normal, Box–Muller.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  using Block = std::array<std::uint32_t, 4>;
  using Key = std::array<std::uint32_t, 2>;

  // Ten rounds; the function that the published test vectors are of.
  static Block philox(Block c, Key key) {
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0],
                          b = std::uint64_t{0xCD9E8D57u} * c[2];
      c = {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    return c;
  }

 private:
  static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

  Key key_;
  Block counter_;  // block number, purpose, index
  std::array<std::uint64_t, 2> words_{};
  std::uint32_t left_ = 0;  // of words_
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace edict
