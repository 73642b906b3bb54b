#include "research/import/text_lines.h"

#include <gtest/gtest.h>

#include <cmath>

#include "import/pack.h"
#include "research/import/download.h"

namespace edict {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  TextLines lines(text, "x");
  std::vector<std::string> result;
  for (std::string_view line; lines.next(line);) result.emplace_back(line);
  return result;
}

TEST(TextLines, EitherLineEndBlankLinesAndAByteOrderMark) {
  const std::vector<std::string> expected{"a,b", "c"};
  EXPECT_EQ(lines_of("a,b\nc\n"), expected);
  EXPECT_EQ(lines_of("a,b\r\nc\r\n"), expected);
  EXPECT_EQ(lines_of("a,b\n\n  \nc"), expected);
  EXPECT_EQ(lines_of("\xef\xbb\xbf"
                     "a,b  \nc\t\n\n"),
            expected);
  EXPECT_TRUE(lines_of("").empty());
  EXPECT_TRUE(lines_of("\r\n\n").empty());
}

TEST(TextLines, ErrorsPointToTheLineBlankOnesCounted) {
  TextLines lines("a\n\nb\n", "some.txt");
  std::string_view line;
  lines.next(line);
  lines.next(line);
  EXPECT_EQ(error_of([&] { lines.fail("is wrong"); }), "some.txt:3: is wrong");
}

TEST(TextLines, CellsAreTakenOneByOne) {
  std::string_view line = " a ,,b";
  EXPECT_EQ(take_cell(line), "a");
  EXPECT_EQ(take_cell(line), "");
  EXPECT_EQ(take_cell(line), "b");
  EXPECT_TRUE(line.empty());
  EXPECT_EQ(take_cell(line), "");
}

TEST(TextLines, NumbersAreWholeTexts) {
  double value = 0.0;
  EXPECT_TRUE(read_number("1.376e+04", value));
  EXPECT_EQ(value, 13760.0);
  EXPECT_TRUE(read_number("-0.25", value));
  EXPECT_EQ(value, -0.25);
  EXPECT_TRUE(read_number("+3", value));
  EXPECT_EQ(value, 3.0);
  EXPECT_TRUE(read_number("NaN", value));
  EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(read_number("1e999", value));
  EXPECT_TRUE(std::isinf(value));
  for (const char* text : {"", "x", "1x", "1 2", "--1", "0x10", "1,5"})
    EXPECT_FALSE(read_number(text, value)) << text;
}

TEST(TextLines, ShownTextIsShortAndPrintable) {
  EXPECT_EQ(shown("abc"), "'abc'");
  EXPECT_EQ(shown(std::string("a\0\x1b[31m", 7)), "'a??[31m'");
  EXPECT_EQ(shown(std::string(50, 'x')), "'" + std::string(40, 'x') + "…'");
}

TEST(Download, CountsAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(164860), "164,860");
  EXPECT_EQ(grouped(1757980), "1,757,980");
}

}  // namespace
}  // namespace edict
