#include "base/error.h"

#include <gtest/gtest.h>

namespace edict {
namespace {

TEST(Error, SaysSubjectPlaceProblemAndRemedy) {
  const Error error(ErrorCode::not_found, {.subject = "ward.csv",
                                           .place = "line 3",
                                           .problem = "column 'id' is missing",
                                           .remedy = "name it with " + option("id")});
  EXPECT_STREQ(error.what(), "ward.csv: line 3: column 'id' is missing; name it with id");
  EXPECT_EQ(error.message(command_line_option),
            "ward.csv: line 3: column 'id' is missing; name it with --id");
  EXPECT_EQ(name(error.code()), "not_found");
  EXPECT_EQ(error.fields().subject, "ward.csv");
}

TEST(Error, EveryFrontEndWordsOptionsItsOwnWay) {
  const std::string text = "give " + option("time_format", "%d/%m/%Y") + " or " +
                           option("train.clip_norm", "0.5") + ", not " + option("origin");
  EXPECT_EQ(with_options(text, command_line_option),
            "give --time-format %d/%m/%Y or --set train.clip_norm=0.5, not --origin");
  EXPECT_EQ(with_options(text, plain_option),
            "give time_format=%d/%m/%Y or train.clip_norm=0.5, not origin");
}

TEST(Error, AValueThatAShellWouldTakeApartIsQuoted) {
  EXPECT_EQ(command_line_option("id", "Bed no"), "--id 'Bed no'");
  EXPECT_EQ(command_line_option("missing", "<0.1"), "--missing '<0.1'");
  EXPECT_EQ(command_line_option("ignore", "Ward's"), "--ignore 'Ward'\\''s'");
  EXPECT_EQ(command_line_option("time", "Datum,Uhrzeit"), "--time Datum,Uhrzeit");
  EXPECT_EQ(plain_option("id", "Bed no"), "id=Bed no");
}

TEST(Error, AMessageWithoutOptionsIsLeftAsItIs) {
  EXPECT_EQ(with_options("10 \x01 broken", plain_option), "10 \x01 broken");
  EXPECT_STREQ(Error("a = b; c").what(), "a = b; c");
}

}  // namespace
}  // namespace edict
