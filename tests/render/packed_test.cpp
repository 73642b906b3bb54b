#include "render/explore/packed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "render/unpacked_page.h"

namespace edict::report {
namespace {

// Section 10 of RFC 4648.
TEST(Base64, IsTheStandardsOwn) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Deflated, InflatesAgain) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * i % 251);
  EXPECT_LT(deflated(text).size(), text.size() / 2);
  EXPECT_EQ(inflated(deflated(text)), text);
}

TEST(ByteWriter, WholeNumbersOfEverySizeComeBack) {
  ByteWriter to;
  const std::vector<std::int64_t> numbers{0, -1, 1, 63, -64, 64, 1 << 20, -(std::int64_t{1} << 51)};
  for (const std::int64_t n : numbers) to.signed_varint(n);
  to.deltas(numbers);
  ByteReader from(to.bytes());
  for (const std::int64_t n : numbers) EXPECT_EQ(from.signed_varint(), n);
  const std::vector<double> back = from.deltas(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    EXPECT_EQ(back[i], static_cast<double>(numbers[i]));
  EXPECT_TRUE(from.ended());
}

class Exact : public testing::TestWithParam<std::vector<double>> {};

TEST_P(Exact, NumbersComeBackBitByBit) {
  ByteWriter to;
  to.exact(GetParam());
  ByteReader from(to.bytes());
  const std::vector<double> back = from.exact(GetParam().size());
  ASSERT_EQ(back.size(), GetParam().size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i], GetParam()[i]);
    EXPECT_EQ(std::signbit(back[i]), std::signbit(GetParam()[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, Exact,
    testing::Values(std::vector<double>{}, std::vector<double>{80, 81.5, 79, 37.25, -4},
                    std::vector<double>{0.1, 0.2, 0.1 + 0.2}, std::vector<double>{1e300, -1e-300},
                    std::vector<double>{-0.0, 1}, std::vector<double>{5e-324},
                    std::vector<double>{1e15, 2e15}, std::vector<double>{1e16, 0.5},
                    std::vector<double>{M_PI, std::sqrt(2.0)}, std::vector<double>{123456.789012}));

TEST(ByteWriter, WhatPeopleWriteTakesAFewBytes) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(36.5 + 0.1 * 0 + (i % 7) / 10.0);
  ByteWriter to;
  to.exact(values);
  EXPECT_LE(to.bytes().size(), 1 + values.size() + 2);
}

}  // namespace
}  // namespace edict::report
