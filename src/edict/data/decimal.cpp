#include "edict/data/decimal.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace edict {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kMaxDigits = 19;  // 10¹⁹ − 1 fits in 64 bits

constexpr std::array<double, kMaxDigits + 1> kExactPowers = [] {
  std::array<double, kMaxDigits + 1> powers{};
  double power = 1.0;
  for (double& entry : powers) entry = power, power *= 10.0;
  return powers;
}();

// 10⁻ᵏ = bits · 2^−shift, cut off (never rounded up), with bits in [2⁶³, 2⁶⁴).
struct Reciprocal {
  std::uint64_t bits;
  int shift;
};

constexpr std::array<Reciprocal, kMaxDigits + 1> kReciprocals = [] {
  std::array<Reciprocal, kMaxDigits + 1> table{};
  Wide power = 1;
  for (int k = 1; k <= kMaxDigits; ++k) {
    power *= 10;
    Wide remainder = 1;
    std::uint64_t quotient = 0;
    int shift = 0;
    for (; (quotient >> 63) == 0; ++shift) {
      remainder <<= 1, quotient <<= 1;
      if (remainder >= power) remainder -= power, quotient |= 1;
    }
    table[static_cast<std::size_t>(k)] = {quotient, shift};
  }
  return table;
}();

// digits / 10^power. With both factors cut off to 64 bits the upper half of their product is at
// most 2 below the truth, so the rounding to 53 bits is certain unless the dropped bits are one of
// the two patterns next to the half.
bool scale_down(std::uint64_t digits, int power, double& value) {
  const int zeros = std::countl_zero(digits);
  const Reciprocal& reciprocal = kReciprocals[static_cast<std::size_t>(power)];
  const auto product =
      static_cast<std::uint64_t>((static_cast<Wide>(digits << zeros) * reciprocal.bits) >> 64);
  const int dropped = (product >> 63) != 0 ? 11 : 10;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t rest = product & (2 * half - 1);
  if (rest == half - 1 || rest == half) return false;
  const std::uint64_t mantissa = (product >> dropped) + (rest > half ? 1 : 0);
  // value = mantissa · 2^exponent, always in the normal range: 10⁻¹⁹ ≤ value < 2⁶⁴.
  const int exponent = 64 + dropped - zeros - reciprocal.shift;
  value = static_cast<double>(mantissa) *
          std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  return true;
}

std::uint64_t load8(const char* text) {
  std::uint64_t word;
  std::memcpy(&word, text, 8);
  return word;
}

bool eight_digits(std::uint64_t word) {
  return ((word & (word + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u) == 0x3030303030303030u;
}

// The eight bytes are digits, the first in the lowest byte: pairs, then fours, then all of them.
std::uint64_t parse8(std::uint64_t word) {
  word -= 0x3030303030303030u;
  word = word * 10 + (word >> 8);
  return ((word & 0x000000ff000000ffu) * 0x000f424000000064u +
          ((word >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
         32;
}

const char* read_digits(const char* p, std::uint64_t& digits) {
  if constexpr (std::endian::native == std::endian::little) {
    for (std::uint64_t word = load8(p); eight_digits(word); word = load8(p)) {
      digits = digits * 100000000 + parse8(word);
      p += 8;
    }
  }
  for (; static_cast<unsigned char>(*p - '0') < 10; ++p)
    digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
  return p;
}

}  // namespace

bool read_short_decimal(const char* text, const char*& end, double& value) {
  const char* p = text;
  const bool negative = *p == '-';
  if (negative) ++p;
  std::uint64_t digits = 0;
  const char* first = p;
  p = read_digits(p, digits);
  auto count = p - first;
  int power = 0;
  if (*p == '.') {
    const char* point = p++;
    p = read_digits(p, digits);
    power = static_cast<int>(p - point - 1);
    count += power;
  }
  end = p;
  if (count == 0 || count > kMaxDigits || (*p | 0x20) == 'e') return false;
  if (digits <= (std::uint64_t{1} << 53)) {
    // Both are exact doubles, so the one division rounds correctly (Clinger 1990).
    value = static_cast<double>(digits) / kExactPowers[static_cast<std::size_t>(power)];
  } else if (power == 0) {
    value = static_cast<double>(digits);
  } else if (!scale_down(digits, power, value)) {
    return false;
  }
  if (negative) value = -value;
  return true;
}

}  // namespace edict
