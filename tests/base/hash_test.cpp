#include "base/hash.h"

#include <gtest/gtest.h>

#include <vector>

namespace edict {
namespace {

// Borders count: the same bytes in other pieces are something else.
TEST(Hash, TellsTextsAndTheirBordersApart) {
  EXPECT_EQ(hash_of("abc"), hash_of("abc"));
  EXPECT_NE(hash_of("abc"), hash_of("abd"));
  EXPECT_NE(Hash().text("ab").text("c").value(), Hash().text("a").text("bc").value());
  EXPECT_NE(Hash().text("").text("").value(), Hash().text("").value());
  const std::vector<double> one{0.0}, two{0.0, 0.0};
  EXPECT_NE(Hash().numbers(std::span(one)).value(), Hash().numbers(std::span(two)).value());
}

// A split by hash takes the top bits: of 10,000 numbered ids a tenth falls into each tenth, give or
// take four deviations of a binomial (120).
TEST(Hash, SpreadsNumberedIdsEvenly) {
  std::vector<int> tenth(10);
  for (int i = 0; i < 10000; ++i) {
    const double u = static_cast<double>(hash_of("s" + std::to_string(i)) >> 11) * 0x1.0p-53;
    ++tenth[static_cast<std::size_t>(10 * u)];
  }
  for (const int count : tenth) EXPECT_NEAR(count, 1000, 120);
}

TEST(Hash, HexHasSixteenDigitsOfTheValue) {
  const std::string digits = Hash().text("a").hex();
  EXPECT_EQ(digits.size(), 16u);
  EXPECT_EQ(std::stoull(digits, nullptr, 16), hash_of("a"));
}

}  // namespace
}  // namespace edict
