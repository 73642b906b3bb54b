#include "base/json/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json/json.h"

namespace edict {
namespace {

// Results and checkpoints go through text: a double comes back to the bit, a whole number whole.
TEST(JsonText, NumbersComeBackToTheBit) {
  for (const double value : {0.1, 1.0 / 3, -0.0, 5e-324, 1e-310, 2.2250738585072014e-308,
                             1.7976931348623157e308, 123456789.123456789, 30.000000000000004}) {
    const double back = parse_json(json_text(value)).get<double>();
    EXPECT_EQ(back, value);
    EXPECT_EQ(std::signbit(back), std::signbit(value));
  }
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{1} << 53 | 1, ~std::uint64_t{0}})
    EXPECT_EQ(parse_json(json_text(value)).get<std::uint64_t>(), value);
  EXPECT_EQ(parse_json(json_text(std::numeric_limits<std::int64_t>::min())).get<std::int64_t>(),
            std::numeric_limits<std::int64_t>::min());
}

// JSON has no word for it.
TEST(JsonText, WhatIsNotFiniteBecomesNull) {
  EXPECT_EQ(json_text(std::nan("")), "null");
  EXPECT_EQ(json_text(std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonText, TextComesBackWithItsQuotesAndLetters) {
  const std::string text = "a \"b\" \\ \n\t\x01 é 心";
  EXPECT_EQ(parse_json(json_text(text)).get<std::string>(), text);
}

TEST(JsonText, OnOneLineOrIndented) {
  const nlohmann::json value = {{"b", {1, 2}}, {"a", true}};
  EXPECT_EQ(json_text(value), "{\"a\":true,\"b\":[1,2]}");
  EXPECT_EQ(json_text(value, 1), "{\n \"a\": true,\n \"b\": [\n  1,\n  2\n ]\n}");
}

TEST(JsonText, WhatIsNoJsonIsDiscardedAndNoObject) {
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "nan", "1e999", "{} x", "'a'", "\"\xff\"",
                           "\"\n\"", "01", "// {}"}) {
    const nlohmann::json json = parse_json(text);
    EXPECT_TRUE(json.is_discarded()) << text;
    EXPECT_FALSE(json.is_object()) << text;
  }
}

// What is kept can be copied and written on any stack.
TEST(JsonText, DepthIsNoDanger) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(json_text(parse_json(nested(100))), nested(100));
  for (const std::size_t depth : {std::size_t{101}, std::size_t{1000000}}) {
    EXPECT_TRUE(parse_json(nested(depth)).is_discarded()) << depth;
    EXPECT_TRUE(parse_json(std::string(depth, '[')).is_discarded()) << depth;
    EXPECT_TRUE(parse_json("{\"a\\\"[\":" + nested(depth) + "}").is_discarded()) << depth;
  }
  const std::string text = "\"" + nested(200) + "\\\"\"";  // brackets of a text nest nothing
  EXPECT_EQ(json_text(parse_json(text)), text);
}

}  // namespace
}  // namespace edict
