// Decimal text to the correctly rounded double, quickly: most cells of a CSV are short numbers
// without an exponent. In the header, so that a scanner's loop takes it in.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace edict {
namespace decimal {

__extension__ using Wide = unsigned __int128;

inline constexpr int kMaxDigits = 19;  // 10¹⁹ − 1 fits in 64 bits

inline constexpr std::array<double, kMaxDigits + 1> kExactPowers = [] {
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

inline constexpr std::array<Reciprocal, kMaxDigits + 1> kReciprocals = [] {
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
inline bool scale_down(std::uint64_t digits, int power, double& value) {
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

inline std::uint64_t load8(const char* text) {
  std::uint64_t word;
  std::memcpy(&word, text, 8);
  return word;
}

// Marks (in their upper halves) the bytes that are no digits. A digit has 3 in its upper half, and
// still has when 6 is added to it. What an addition carries over comes from a byte that is no digit
// and may be wrong only behind it.
inline std::uint64_t other_than_digits(std::uint64_t word) {
  return ((word ^ 0x3030303030303030u) | ((word + 0x0606060606060606u) ^ 0x3030303030303030u)) &
         0xf0f0f0f0f0f0f0f0u;
}

// How many bytes come before the lowest marked one.
inline unsigned before(std::uint64_t marked) {
  return static_cast<unsigned>(std::countr_zero(marked)) / 8;
}

// The eight bytes are digits, the first in the lowest byte: pairs, then fours, then all of them.
inline std::uint64_t parse8(std::uint64_t word) {
  word -= 0x3030303030303030u;
  word = word * 10 + (word >> 8);
  return ((word & 0x000000ff000000ffu) * 0x000f424000000064u +
          ((word >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
         32;
}

inline const char* read_digit_by_digit(const char* p, std::uint64_t& digits) {
  for (; static_cast<unsigned char>(*p - '0') < 10; ++p)
    digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
  return p;
}

// Eight at a time; the last few are moved up behind zeros, as their number is hard to foresee.
inline const char* read_many_digits(const char* p, std::uint64_t& digits) {
  if constexpr (std::endian::native != std::endian::little) return read_digit_by_digit(p, digits);
  constexpr std::array<std::uint64_t, 8> powers{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  std::uint64_t word = load8(p);
  unsigned count = before(other_than_digits(word));
  for (; count == 8; count = before(other_than_digits(word))) {
    digits = digits * 100000000 + parse8(word);
    p += 8;
    word = load8(p);
  }
  if (count == 0) return p;
  const std::uint64_t zeros = 0x3030303030303030u >> (8 * count);
  word = (word << (64 - 8 * count)) | zeros;
  digits = digits * powers[static_cast<std::size_t>(count)] + parse8(word);
  return p + count;
}

// A number of at most seven characters, without branches on where its point is: the digits before
// the point move up by one byte onto it, then all move up behind zeros. Returns its length, or 0
// where it is none or longer.
inline unsigned read_seven(std::uint64_t word, double& value) {
  if constexpr (std::endian::native != std::endian::little) return 0;
  const std::uint64_t other = other_than_digits(word);
  const unsigned point = before(other);
  if (point > 6) {
    if (point > 7) return 0;
    value = static_cast<double>(parse8((word << 8) | 0x30));
    return 7;
  }
  const unsigned has_point = ((word >> (8 * point)) & 0xff) == '.' ? 1 : 0;
  const std::uint64_t at_point = std::uint64_t{0xff} << (8 * point);
  const std::uint64_t below = at_point / 0xff - 1;  // the bytes before the point
  const unsigned length = has_point != 0 ? before(other & ~at_point) : point;
  const unsigned digits = length - has_point;
  if (length > 7 || digits == 0) return 0;
  const std::uint64_t joined =
      has_point != 0 ? ((word & below) << 8) | (word & ~(below | at_point)) : word;
  const std::uint64_t aligned =
      (joined << (64 - 8 * length)) | (0x3030303030303030u >> (8 * digits));
  value = static_cast<double>(parse8(aligned)) / kExactPowers[has_point != 0 ? digits - point : 0];
  return length;
}

inline double with_sign(double value, bool negative) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^
                               (static_cast<std::uint64_t>(negative) << 63));
}

}  // namespace decimal

// Reads sign, digits, point and digits from `text` and stops at the first other character, which
// `end` then points to. Returns false, with nothing promised about `value`, where the short path is
// not sure of the last bit or the text is in another form; std::from_chars decides those.
// Up to 8 bytes behind the number are looked at: the buffer must be padded.
inline bool read_short_decimal(const char* text, const char*& end, double& value) {
  const char* p = text;
  const bool negative = *p == '-';
  p += negative;
  if (const unsigned length = decimal::read_seven(decimal::load8(p), value); length > 0) {
    end = p + length;
    value = decimal::with_sign(value, negative);
    return (*end | 0x20) != 'e';
  }
  std::uint64_t digits = 0;
  const char* first = p;
  p = decimal::read_digit_by_digit(p, digits);
  auto count = p - first;
  int power = 0;
  if (*p == '.') {
    const char* point = p++;
    p = decimal::read_many_digits(p, digits);
    power = static_cast<int>(p - point - 1);
    count += power;
  }
  end = p;
  if (count == 0 || count > decimal::kMaxDigits || (*p | 0x20) == 'e') return false;
  if (power == 0) {
    value = static_cast<double>(digits);
  } else if (digits == 0 || !decimal::scale_down(digits, power, value)) {
    if (digits > (std::uint64_t{1} << 53)) return false;
    // Both are exact doubles, so the one division rounds correctly (Clinger 1990).
    value = static_cast<double>(digits) / decimal::kExactPowers[static_cast<std::size_t>(power)];
  }
  value = decimal::with_sign(value, negative);
  return true;
}

}  // namespace edict
