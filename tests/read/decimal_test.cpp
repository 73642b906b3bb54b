#include "data/read/cells/decimal.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/generator.h"
#include "data/read/csv/csv.h"

namespace edict {
namespace {

// strtod of glibc rounds correctly: it is the reference for both the short path and the whole.
double via_csv(const std::string& text) {
  return read_csv_text("id,time,x\na,0," + text, "f").value[0];
}

void expect_same(const std::string& text) {
  const double expected = std::strtod(text.c_str(), nullptr);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(via_csv(text)), std::bit_cast<std::uint64_t>(expected))
      << text;
}

TEST(Decimal, EdgesRoundCorrectly) {
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "-0.000",
                           "1",
                           "9007199254740993",
                           "9007199254740992.5",
                           "0.1",
                           "0.3",
                           "123456789.123456789",
                           "9999999999999999999",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999999",
                           "0.5000000000000000277",
                           "1.0000000000000002220",
                           "1.00000000000000011102230246251565404",
                           "0.99999999999999994449",
                           "9007199254740991.4999",
                           "4503599627370497.5",
                           "4503599627370496.5",
                           "2.2250738585072011e-308",
                           "5e-324",
                           "1e22",
                           "1e23",
                           "8.41e21",
                           "1.7976931348623157e308",
                           "00000000000000000000001.5",
                           ".25",
                           "7.",
                           "12345678",
                           "1234567812345678",
                           "0.12345678",
                           "0.123456781234567812"})
    expect_same(text);
}

TEST(Decimal, RandomTextsOfEveryLengthRoundCorrectly) {
  Generator rng(5);
  for (int i = 0; i < 20000; ++i) {
    std::string text = rng.below(2) == 0 ? "-" : "";
    for (std::uint64_t k = rng.below(12); k > 0; --k)
      text += static_cast<char>('0' + rng.below(10));
    text += '.';
    for (std::uint64_t k = 1 + rng.below(20); k > 0; --k)
      text += static_cast<char>('0' + rng.below(10));
    expect_same(text);
  }
}

// Every place of the point in numbers of up to nine characters, with every digit somewhere.
TEST(Decimal, ShortTextsWithThePointAnywhere) {
  for (int length = 1; length <= 9; ++length)
    for (int point = -1; point < length; ++point)
      for (int first = 0; first < 10; ++first) {
        std::string text;
        for (int k = 0; k < length; ++k)
          text += k == point ? '.' : static_cast<char>('0' + (first + 7 * k) % 10);
        if (text == ".") continue;
        expect_same(text);
        expect_same("-" + text);
      }
}

// Texts next to the middle between two doubles are where a short path goes wrong.
TEST(Decimal, NeighboursOfHalfwayPointsRoundCorrectly) {
  Generator rng(6);
  for (int i = 0; i < 20000; ++i) {
    const double a = rng.uniform(0.0, 1000.0);
    const long double middle = (static_cast<long double>(a) + std::nextafter(a, 1e9)) / 2;
    const int digits = static_cast<int>(14 + rng.below(4));
    expect_same(fmt::format("{:.{}Lf}", middle, digits));
  }
}

TEST(Decimal, StopsWhereTheNumberStopsAndRefusesOtherForms) {
  const char padded[] = "-12.25,rest and padding";
  const char* end = nullptr;
  double value = 0;
  ASSERT_TRUE(read_short_decimal(padded, end, value));
  EXPECT_EQ(value, -12.25);
  EXPECT_EQ(*end, ',');
  for (const char* text : {"1e5             ", "abc             ", "-               ",
                           "12345678901234567890.5          ", ".               "})
    EXPECT_FALSE(read_short_decimal(text, end, value)) << text;
}

}  // namespace
}  // namespace edict
