#include "render/explore/packed.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

namespace edict::report {
namespace {

// Powers of ten that doubles hold exactly; a whole number below 2⁵³ divided by one of them rounds
// to the double that its decimal text names.
constexpr int kMostDecimals = 22;
constexpr std::array<double, kMostDecimals + 1> kPowers{
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
// A quarter of 2⁵³: a difference with its sign folded in stays below 2⁵³.
constexpr double kLargestMultiple = 2251799813685248.0;

// Decimals in the shortest text of a number, at least 0.
int decimals_of(double value) {
  std::array<char, 32> text{};
  const char* const begin = text.data();
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific)
          .ptr;
  const char* const e = std::find(begin, end, 'e');
  const char* const point = std::find(begin, e, '.');
  int exponent = 0;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, exponent);
  const int digits_behind = point == e ? 0 : static_cast<int>(e - point) - 1;
  return std::max(0, digits_behind - exponent);
}

// The values as multiples of 10^−decimals, if that gives each of them exactly.
std::optional<std::vector<std::int64_t>> multiples(std::span<const double> values, int decimals) {
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  const double power = kPowers[static_cast<std::size_t>(decimals)];
  for (const double value : values) {
    const double multiple = std::nearbyint(value * power);
    if (!(std::abs(multiple) < kLargestMultiple) || multiple / power != value ||
        (value == 0 && std::signbit(value)))
      return std::nullopt;
    result.push_back(static_cast<std::int64_t>(multiple));
  }
  return result;
}

template <class Word>
void append_little_endian(Word word, std::string& bytes) {
  for (std::size_t k = 0; k < sizeof(Word); ++k, word >>= 8)
    bytes.push_back(static_cast<char>(word & 0xff));
}

}  // namespace

void ByteWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
  byte(static_cast<std::uint8_t>(value));
}

void ByteWriter::signed_varint(std::int64_t value) {
  varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void ByteWriter::float64(double value) {
  append_little_endian(std::bit_cast<std::uint64_t>(value), bytes_);
}

void ByteWriter::deltas(std::span<const std::int64_t> values) {
  std::int64_t last = 0;
  for (const std::int64_t value : values) {
    signed_varint(value - last);
    last = value;
  }
}

void ByteWriter::exact(std::span<const double> values) {
  int decimals = 0;
  for (const double value : values) decimals = std::max(decimals, decimals_of(value));
  const auto whole = decimals <= kMostDecimals ? multiples(values, decimals) : std::nullopt;
  if (whole) {
    byte(static_cast<std::uint8_t>(decimals));
    deltas(*whole);
  } else {
    byte(kRawNumbers);
    for (const double value : values) float64(value);
  }
}

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string result(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                /*level=*/9) != Z_OK)
    throw std::bad_alloc();  // there is no other reason
  result.resize(size);
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < count ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace edict::report
