#include "base/text/utf8.h"

#include <gtest/gtest.h>

namespace edict {
namespace {

TEST(Utf8, TellsTextFromOtherBytes) {
  for (const char* text :
       {"", "plain", "Müller", "体温", "🙂", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbd"})
    EXPECT_TRUE(valid_utf8(text)) << text;
  for (const char* text : {
           "M\xfcller",         // Latin-1
           "M\xc3",             // cut off
           "\xc3(",             // no second byte
           "\x80",              // no first byte
           "\xc0\xaf",          // longer than need be
           "\xe0\x80\xaf",      // the same in three bytes
           "\xf0\x80\x80\xaf",  // and in four
           "\xed\xa0\x80",      // half of a pair
           "\xf4\x90\x80\x80",  // beyond the last character
           "\xff",
       })
    EXPECT_FALSE(valid_utf8(text));
}

// Wherever a bad byte stands among good ones that are passed over eight at a time.
TEST(Utf8, FindsABadByteAnywhere) {
  for (std::size_t length = 1; length < 40; ++length)
    for (std::size_t at = 0; at < length; ++at) {
      std::string text(length, 'a');
      EXPECT_TRUE(valid_utf8(text));
      text[at] = '\xe9';
      EXPECT_FALSE(valid_utf8(text)) << at << " of " << length;
    }
}

TEST(Utf8, CountsColumns) {
  EXPECT_EQ(display_width("plain"), 5u);
  EXPECT_EQ(display_width("Müller"), 6u);
  EXPECT_EQ(display_width("e\u0301"), 1u);  // an accent of its own
  EXPECT_EQ(display_width("体温"), 4u);
  EXPECT_EQ(display_width("█░…"), 3u);
}

TEST(Utf8, ShortensToColumns) {
  EXPECT_EQ(shortened("plain", 5), "plain");
  EXPECT_EQ(shortened("plain", 4), "pla…");
  EXPECT_EQ(shortened("plain", 1), "…");
  EXPECT_EQ(shortened("plain", 0), "");
  EXPECT_EQ(shortened("Müller", 3), "Mü…");
  EXPECT_EQ(shortened("体温計", 5), "体温…");
  EXPECT_EQ(shortened("体温計", 4), "体…");
  EXPECT_EQ(shortened("a\nb\x1b[2J", 20), "a?b?[2J");
  EXPECT_EQ(shortened("M\xfcller", 20), "M?ller");
}

}  // namespace
}  // namespace edict
