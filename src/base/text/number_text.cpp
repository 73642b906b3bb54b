#include "base/text/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace edict {
namespace {

constexpr int kDigits = 9;
constexpr double kLeast = 1e8, kMost = 1e9;  // what nine digits lie between, as a whole number

// 10^0 … 10^22, all of them exact.
constexpr auto kPowers = [] {
  std::array<double, 23> powers{};
  double power = 1;
  for (double& p : powers) p = power, power *= 10;
  return powers;
}();

// The largest e with 10^e ≤ value, for 1e-5 ≤ value < 1e15.
int decimal_exponent(double value) {
  int e = 0;
  if (value >= 1) {
    while (value >= kPowers[static_cast<std::size_t>(e + 1)]) ++e;
  } else {
    while (value * kPowers[static_cast<std::size_t>(-e)] < 1) --e;
  }
  return e;
}

}  // namespace

void append_shortest(std::string& to, double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  to.append(digits, end);
}

void append_nine_digits(std::string& to, double value) {
  const double size = std::abs(value);
  if (!(size >= 1e-5 && size < 1e15)) {  // also what is not finite
    if (value == 0) {
      to += '0';
      return;
    }
    char digits[32];
    const auto [end, error] =
        std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, kDigits);
    to.append(digits, end);
    return;
  }
  int exponent = decimal_exponent(size);
  const int shift = kDigits - 1 - exponent;
  double whole = std::nearbyint(shift >= 0 ? size * kPowers[static_cast<std::size_t>(shift)]
                                           : size / kPowers[static_cast<std::size_t>(-shift)]);
  if (whole >= kMost) whole = kLeast, ++exponent;
  auto left = static_cast<std::uint32_t>(whole);
  char digits[kDigits];
  for (int i = kDigits; i-- > 0; left /= 10) digits[i] = static_cast<char>('0' + left % 10);
  int count = kDigits;
  while (count > 1 && digits[count - 1] == '0') --count;

  char text[32];
  char* at = text;
  if (value < 0) *at++ = '-';
  if (exponent < 0) {
    *at++ = '0', *at++ = '.';
    for (int zero = exponent + 1; zero < 0; ++zero) *at++ = '0';
    std::memcpy(at, digits, static_cast<std::size_t>(count));
    at += count;
  } else {
    for (int i = 0; i <= exponent; ++i) *at++ = i < count ? digits[i] : '0';
    if (count > exponent + 1) {
      *at++ = '.';
      for (int i = exponent + 1; i < count; ++i) *at++ = digits[i];
    }
  }
  to.append(text, at);
}

}  // namespace edict
