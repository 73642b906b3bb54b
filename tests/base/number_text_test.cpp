// Numbers as text: what reads back, how many digits, and the edges between the ways of writing.
#include "base/text/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/generator.h"

namespace edict {
namespace {

std::string nine(double value) {
  std::string text;
  append_nine_digits(text, value);
  return text;
}

TEST(NumberText, TheShortestTextReadsBackAsTheSameDouble) {
  Generator rng(1, "shortest");
  for (int i = 0; i < 2000; ++i) {
    const double value = rng.normal() * std::pow(10.0, rng.uniform(-300, 300));
    std::string text;
    append_shortest(text, value);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value);
  }
  std::string text = "t=";
  append_shortest(text, 0.1);
  EXPECT_EQ(text, "t=0.1");
}

TEST(NumberText, NineDigitsAsOneWouldWriteThem) {
  EXPECT_EQ(nine(0), "0");
  EXPECT_EQ(nine(-0.0), "0");
  EXPECT_EQ(nine(1), "1");
  EXPECT_EQ(nine(-1.5), "-1.5");
  EXPECT_EQ(nine(0.3), "0.3");
  EXPECT_EQ(nine(0.00012), "0.00012");
  EXPECT_EQ(nine(1.0 / 3), "0.333333333");
  EXPECT_EQ(nine(2e5 / 3), "66666.6667");
  EXPECT_EQ(nine(100), "100");
  EXPECT_EQ(nine(123456789), "123456789");
  EXPECT_EQ(nine(1234567891234), "1234567890000");
  EXPECT_EQ(nine(0.9999999999), "1");
  EXPECT_EQ(nine(99999.99999), "100000");
  EXPECT_EQ(nine(9.99999999999e14), "1000000000000000");
  EXPECT_EQ(nine(1e15), "1e+15");
  EXPECT_EQ(nine(1e-5), "0.00001");
  EXPECT_EQ(nine(1.5e-7), "1.5e-07");
  EXPECT_EQ(nine(std::numeric_limits<double>::infinity()), "inf");
}

// Half a unit of the ninth digit, and a little for a half that is rounded the other way.
TEST(NumberText, NineDigitsAreRightToHalfOfTheLast) {
  Generator rng(2, "nine");
  for (int i = 0; i < 20000; ++i) {
    const double value = rng.normal() * std::pow(10.0, rng.uniform(-12, 18));
    const double back = std::strtod(nine(value).c_str(), nullptr);
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 8);
    EXPECT_LE(std::abs(back - value), 0.5000002 * unit) << value;
  }
}

}  // namespace
}  // namespace edict
