// FNV-1a (Fowler, Noll, Vo), 64 bits: the one hash of the project. The same on every machine, quick
// on short keys, and no protection against someone who wants a collision.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace edict {

class Hash {
 public:
  Hash& bytes(const void* from, std::size_t count) {
    const auto* p = static_cast<const unsigned char*>(from);
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ p[i]) * 0x100000001b3u;
    return *this;
  }
  template <class T>
  requires std::is_arithmetic_v<T> Hash& number(T value) { return bytes(&value, sizeof value); }
  // With its length, so that ("ab", "c") and ("a", "bc") differ.
  Hash& text(std::string_view value) {
    return number(std::uint64_t{value.size()}).bytes(value.data(), value.size());
  }
  template <class T>
  requires std::is_arithmetic_v<T> Hash& numbers(std::span<const T> values) {
    return number(std::uint64_t{values.size()}).bytes(values.data(), values.size_bytes());
  }

  // Multiplication carries upwards only: the last step lets every bit of the input reach every bit
  // of the result (the finaliser of splitmix64).
  std::uint64_t value() const {
    std::uint64_t z = value_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::string hex() const {  // 16 digits
    std::string digits(16, '0');
    std::uint64_t v = value();
    for (std::size_t i = 16; i-- > 0; v >>= 4) digits[i] = "0123456789abcdef"[v & 15];
    return digits;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

inline std::uint64_t hash_of(std::string_view text) { return Hash().text(text).value(); }

}  // namespace edict
