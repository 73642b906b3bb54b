#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/generator.h"
#include "data/read/csv/csv.h"

namespace edict {
namespace {

using Texts = std::vector<std::string>;

std::string error_of(std::string_view text, const CsvLimits& limits = {}) {
  ReadOptions options;
  options.limits = limits;
  options.duplicates = "error";
  try {
    read_csv_text(text, "f.csv", options);
  } catch (const Error& error) {
    return error.message(command_line_option);
  }
  return "no error";
}

// The observations as (series, time, feature, value), for comparisons that read well.
struct Flat {
  std::string id;
  double time;
  std::string feature;
  double value;
  bool operator==(const Flat&) const = default;
};

void PrintTo(const Flat& flat, std::ostream* out) {
  *out << flat.id << " @" << flat.time << " " << flat.feature << "=" << flat.value;
}

std::vector<Flat> flatten(const Dataset& dataset) {
  std::vector<Flat> result;
  for (std::size_t i = 0; i < dataset.size(); ++i)
    for (std::size_t e = dataset.first_event[i]; e < dataset.first_event[i + 1]; ++e)
      for (const Observation& o : dataset.observed(e))
        result.push_back({dataset.ids[i], dataset.times[e],
                          dataset.features[static_cast<std::size_t>(o.feature)], o.value});
  return result;
}

TEST(ReadCsv, WideFormWithEverything) {
  const Dataset d = read_csv_text(
      "x,id,label,static:age,time,y,group\n"
      "1.5,b,10,63,0.25,,g2\n"
      ",a,9,,0,-2e-3,g1\n"
      "2.5,b,,,1,4,\n",
      "f.csv");
  EXPECT_EQ(d.features, (Texts{"x", "y"}));
  EXPECT_EQ(d.statics, Texts{"age"});
  EXPECT_EQ(d.classes, (Texts{"9", "10"}));  // by number, not by text
  EXPECT_EQ(d.groups, (Texts{"g1", "g2"}));
  EXPECT_EQ(d.ids, (Texts{"b", "a"}));
  EXPECT_EQ(d.labels, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(d.group_of, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(d.static_values[0], 63);
  EXPECT_TRUE(std::isnan(d.static_values[1]));
  EXPECT_EQ(
      flatten(d),
      (std::vector<Flat>{
          {"b", 0.25, "x", 1.5}, {"b", 1, "x", 2.5}, {"b", 1, "y", 4}, {"a", 0, "y", -2e-3}}));
}

TEST(ReadCsv, RowsInAnyOrderAreSortedByTimeWithinTheirSeries) {
  const Dataset d = read_csv_text("id,time,x,y\nb,3,1,\na,1,2,3\nb,-1,4,5\na,0,,6\nb,0,7,\n", "f");
  EXPECT_EQ(d.ids, (Texts{"b", "a"}));
  EXPECT_EQ(d.first_event, (std::vector<std::size_t>{0, 3, 5}));
  EXPECT_EQ(flatten(d), (std::vector<Flat>{{"b", -1, "x", 4},
                                           {"b", -1, "y", 5},
                                           {"b", 0, "x", 7},
                                           {"b", 3, "x", 1},
                                           {"a", 0, "y", 6},
                                           {"a", 1, "x", 2},
                                           {"a", 1, "y", 3}}));
}

TEST(ReadCsv, LongFormSaysTheSameAsWideForm) {
  const Dataset wide = read_csv_text("id,time,x,y,label\na,0,1,2,u\na,1,,3,u\nb,0,4,,v\n", "w");
  const Dataset shuffled = read_csv_text(
      "value,feature,id,label,time\n4,x,b,v,0\n3,y,a,u,1\n1,x,a,,0\n2,y,a,u,0\n", "l");
  const Dataset ordered =
      read_csv_text("id,time,feature,value\na,0,x,1\na,0,y,2\na,1,y,3\nb,0,x,4\n", "l");
  EXPECT_EQ(flatten(ordered), flatten(wide));
  EXPECT_EQ(ordered.first_event, wide.first_event);
  EXPECT_EQ(shuffled.ids, (Texts{"b", "a"}));
  EXPECT_EQ(shuffled.classes, (Texts{"u", "v"}));
  EXPECT_EQ(shuffled.labels, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(
      flatten(shuffled),
      (std::vector<Flat>{{"b", 0, "x", 4}, {"a", 0, "x", 1}, {"a", 0, "y", 2}, {"a", 1, "y", 3}}));
  EXPECT_EQ(shuffled.events(), 3u);
}

TEST(ReadCsv, FeaturesOfAnEventAreInOrderInLongFormToo) {
  const Dataset d =
      read_csv_text("id,time,feature,value\na,0,x,1\na,0,y,2\na,1,y,3\na,1,x,4\n", "l");
  ASSERT_EQ(d.events(), 2u);
  EXPECT_EQ(d.observed(1)[0].feature, 0);
  EXPECT_EQ(d.observed(1)[0].value, 4);
  EXPECT_EQ(d.observed(1)[1].feature, 1);
}

TEST(ReadCsv, TakesQuotesLineEndsMarksBlanksAndBlankLines) {
  const Dataset d = read_csv_text(
      "\xef\xbb\xbfid, time ,\"heart, rate\"\r\n"
      "\"Smith, \"\"Al\"\"\",1 , \"2.5\" \r\n"
      "\r\n"
      "\"line\none\",+2,\t-.5\r\n"
      "\n\n"
      "\" padded \",3,7.",
      "f");
  EXPECT_EQ(flatten(d), (std::vector<Flat>{{"Smith, \"Al\"", 1, "heart, rate", 2.5},
                                           {"line\none", 2, "heart, rate", -0.5},
                                           {" padded ", 3, "heart, rate", 7}}));
}

TEST(ReadCsv, ARepeatedIdIsRecognisedAlsoWhereItIsAPrefix) {
  const Dataset d =
      read_csv_text("id,time,x\na,0,1\nab,0,2\na,1,3\n\"a\",2,4\n\"a\"\"\",0,5\n", "f");
  EXPECT_EQ(d.ids, (Texts{"a", "ab", "a\""}));
  EXPECT_EQ(d.events(0), 3u);
}

TEST(ReadCsv, ARowWithoutValuesDeclaresASeriesWithoutEvent) {
  const Dataset d = read_csv_text("id,time,x,label\na,0,,1\nb,,,0\nc,2,5,\n", "f");
  EXPECT_EQ(d.ids, (Texts{"a", "b", "c"}));
  EXPECT_EQ(d.first_event, (std::vector<std::size_t>{0, 0, 0, 1}));
  EXPECT_EQ(d.labels, (std::vector<std::int32_t>{1, 0, Dataset::kNone}));
  // It is no repetition of an event at the same time either.
  EXPECT_EQ(read_csv_text("id,time,x\na,0,1\na,0,\n", "f").events(), 1u);
  const Dataset l = read_csv_text("id,time,feature,value\na,,,\nb,1,x,\nc,1,y,2\n", "f");
  EXPECT_EQ(l.ids, (Texts{"a", "b", "c"}));
  // A feature that is named and never has a value is left out, as an empty column is.
  EXPECT_EQ(l.features, (Texts{"y"}));
  EXPECT_EQ(l.events(), 1u);
}

// One value at every place of a wide row, with other columns before, between and behind.
TEST(ReadCsv, LongRunsOfEmptyCells) {
  const int features = 40;
  std::string text = "x0,id,time";
  for (int f = 1; f < features; ++f) text += fmt::format("{}{}", f == 25 ? ",label,x" : ",x", f);
  text += ",group\n";
  for (int row = 0; row < features; ++row) {
    text += fmt::format("{}{}", row == 0 ? "7,a," : ",a,", row);
    for (int f = 1; f < features; ++f)
      text += fmt::format("{}{}", f == 25 ? ",u," : ",", f == row ? "7" : "");
    text += ",g\n";
  }
  const Dataset d = read_csv_text(text, "f");
  ASSERT_EQ(d.events(), 40u);
  ASSERT_EQ(d.observations(), 40u);
  for (int row = 0; row < features; ++row) {
    EXPECT_EQ(d.observed(static_cast<std::size_t>(row))[0].feature, row);
    EXPECT_EQ(d.observed(static_cast<std::size_t>(row))[0].value, 7.0);
  }
  EXPECT_EQ(d.classes, Texts{"u"});
  EXPECT_EQ(d.groups, Texts{"g"});
  EXPECT_EQ(error_of("id,time,x,y,z\na,0,,,\na,0,,,,\n"),
            "f.csv:3: 6 cells where the header has 5; add or remove cells");
  EXPECT_EQ(error_of("id,time,x,y,z\na,0,,\n"),
            "f.csv:2: 4 cells where the header has 5; add or remove cells");
}

TEST(ReadCsv, LabelsThatAreNotAllNumbersAreSortedAsText) {
  EXPECT_EQ(read_csv_text("id,time,x,label\na,0,1,9\nb,0,1,10\nc,0,1,-1e1\n", "f").classes,
            (Texts{"-1e1", "9", "10"}));
  EXPECT_EQ(read_csv_text("id,time,x,label\na,0,1,9\nb,0,1,10\nc,0,1,x\n", "f").classes,
            (Texts{"10", "9", "x"}));
}

TEST(ReadCsv, ALabelOrGroupThatSpellsUnknownIsNone) {
  for (const char* unknown : {"", "NA", "N/A", "NaN", "null", "\"NA\""}) {
    const Dataset d =
        read_csv_text(std::string("id,time,x,label,group\na,0,1,yes,g\nb,0,1,") + unknown + "," +
                          unknown + "\nb,1,1,no,\nc,0,1," + unknown + "," + unknown + "\n",
                      "f");
    EXPECT_EQ(d.classes, (Texts{"no", "yes"})) << unknown;
    EXPECT_EQ(d.labels, (std::vector<std::int32_t>{1, 0, Dataset::kNone})) << unknown;
    EXPECT_EQ(d.groups, Texts{"g"}) << unknown;
    EXPECT_EQ(d.group_of, (std::vector<std::int32_t>{0, Dataset::kNone, Dataset::kNone}));
  }
}

TEST(ReadCsv, ManyRowsBeyondTheSampleThatSizesTheArrays) {
  std::string text = "id,time,x\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("s{},{},{}\n", i / 10, i % 10, i);
  const Dataset d = read_csv_text(text, "f");
  ASSERT_EQ(d.size(), 500u);
  ASSERT_EQ(d.events(), 5000u);
  for (std::size_t e = 0; e < 5000; ++e) EXPECT_EQ(d.observed(e)[0].value, static_cast<double>(e));
}

TEST(ReadCsvError, NamesFileLineAndColumn) {
  EXPECT_EQ(error_of("id,time,x\na,0,1\na,1,high\n"),
            "f.csv:3: column 'x': 'high' is not a number; write one, or leave the cell empty if "
            "nothing is known (--missing names what stands for it)");
  EXPECT_EQ(error_of("id,time,x\na,noon,1\n"),
            "f.csv:2: column 'time': 'noon' is neither a number nor a date; write 1.5 or "
            "2024-03-01 12:30");
  for (const char* bad : {"1.5x", "1 2", "--1", "+-1", "0x10", "1e", "1,5\"", "١"})
    EXPECT_TRUE(error_of("id,time,\"x\"\na,0,1\nb,0,\"" + std::string(bad) + "\"\n")
                    .starts_with("f.csv:3: "))
        << bad;
}

TEST(ReadCsvError, WhatIsNotFinite) {
  for (const char* bad : {"inf", "-inf", "Infinity"}) {
    const std::string end =
        std::string("'") + bad +
        "' is not finite; write a finite number, or leave the cell empty if nothing is known";
    const std::string remedy = std::string(" (--missing ") + bad + " says it of all)";
    EXPECT_EQ(error_of(std::string("id,time,x\na,0,1\nb,0,") + bad),
              "f.csv:3: column 'x': " + end + remedy);
    EXPECT_EQ(error_of(std::string("id,time,x\na,") + bad + ",1"),
              "f.csv:2: column 'time': " + end);
    EXPECT_EQ(error_of(std::string("id,time,x,static:w\na,0,1,") + bad),
              "f.csv:2: column 'static:w': " + end + remedy);
  }
  EXPECT_EQ(error_of("id,time,x\na,0,1e999\n"),
            "f.csv:2: column 'x': '1e999' is beyond the range of a double; scale the column");
}

TEST(ReadCsvError, DifferentValuesAtOneTime) {
  EXPECT_EQ(error_of("id,time,x,y\na,1,1,\nb,1,1,\n\na,1.0,3,2\n"),
            "f.csv:5: column 'x': id 'a' has 3 here and 1 in line 2 at the same time; correct one, "
            "or give --duplicates mean, first or last");
  EXPECT_EQ(error_of("id,time,feature,value\na,2,x,1\na,2,y,1\na,1,y,1\na,2,y,3\n"),
            "f.csv:5: column 'y': id 'a' has 3 here and 1 in line 3 at the same time; correct one, "
            "or give --duplicates mean, first or last");
}

TEST(ReadCsvError, TimesThatDoublesDoNotTellApart) {
  EXPECT_EQ(error_of("id,time,x\na,9700000000000000001,1\na,9700000000000000002,3\n"),
            "f.csv:3: column 'x': id 'a' has 3 here and 1 in line 2 at the same time (numbers this "
            "large differ by 2048 at least; count them from a later start); correct one, or give "
            "--duplicates mean, first or last");
}

TEST(ReadCsv, RowsOfOneEventAreJoined) {
  const Dataset d = read_csv_text("id,time,x,y\na,1,1,\nb,1,1,\na,1.0,1,2\na,-0,1,\na,0,1,\n", "f");
  EXPECT_EQ(
      flatten(d),
      (std::vector<Flat>{{"a", 0, "x", 1}, {"a", 1, "x", 1}, {"a", 1, "y", 2}, {"b", 1, "x", 1}}));
  EXPECT_EQ(d.reading.recognised, Texts{"2 observations were given twice and are taken once"});
}

TEST(ReadCsvError, WhatChangesWithinAnId) {
  const std::string end = "it changes within id 'a'; give one value for the whole series";
  EXPECT_EQ(error_of("id,time,x,label\na,0,1,u\na,1,1,\na,2,1,v\n"),
            "f.csv:4: column 'label': " + end);
  EXPECT_EQ(error_of("id,time,x,group\na,0,1,u\nb,0,1,v\na,1,1,v\n"),
            "f.csv:4: column 'group': " + end);
  EXPECT_EQ(error_of("id,time,x,static:age\na,0,1,\na,1,1,3\na,2,1,3.0\na,3,1,4\n"),
            "f.csv:5: column 'static:age': " + end);
}

TEST(ReadCsvError, RaggedRows) {
  EXPECT_EQ(error_of("id,time,x\na,0,1\na,1\n"),
            "f.csv:3: 2 cells where the header has 3; add or remove cells");
  EXPECT_EQ(error_of("id,time,x\n\"a\nb\",0,1\na,1,2,3,\n"),
            "f.csv:4: 5 cells where the header has 3; add or remove cells");
  EXPECT_EQ(error_of("id,time,x\na"),
            "f.csv:2: 1 cell where the header has 3; add or remove cells");
}

TEST(ReadCsvError, Headers) {
  EXPECT_EQ(error_of("id,time,x,y,x\na,0,1,2,3\n"),
            "f.csv:1: column 'x': the name appears twice; rename or remove one of them");
  EXPECT_EQ(error_of("time,x\n0,1\n"), "no error");  // one series
  EXPECT_EQ(error_of(",time\n0,1\n"),
            "f.csv:1: no feature columns; add at least one (found '', 'time')");
  EXPECT_EQ(error_of("id,hr,word\na,x,y\n"),
            "f.csv:1: column 'time': it is missing; name it with --time, or add it to the header "
            "(found 'id', 'hr', 'word')");
  EXPECT_EQ(error_of("id,time,label,static:age\na,0,1,2\n"),
            "f.csv:1: no feature columns; add at least one (found 'id', 'time', 'label', "
            "'static:age')");
  EXPECT_EQ(error_of("id,time,x,static:\na,0,1,2\n"),
            "f.csv:1: column 'static:': the covariate has no name; write static:<name>");
  EXPECT_EQ(error_of("id,time,x\ra,0,1\rb,0,1\r"),
            "f.csv:1: a carriage return without line feed; save with Unix or Windows line ends");
}

TEST(ReadCsvError, WhatIsNotThere) {
  const std::string empty =
      "f.csv:1: the file is empty; it needs a header line 'id,time,<feature>,…' and rows";
  EXPECT_EQ(error_of(""), empty);
  EXPECT_EQ(error_of("\xef\xbb\xbf"), empty);
  EXPECT_EQ(error_of("id,time,x\n"), "f.csv:2: a header but no rows; add at least one series");
  EXPECT_EQ(error_of("id,time,x\n\n\r\n"),
            "f.csv:4: a header but no rows; add at least one series");
  EXPECT_EQ(error_of("id,time,x\n,0,1\n"),
            "f.csv:2: column 'id': it is empty; give every row an id");
  EXPECT_EQ(error_of("id,time,x\na,,1\n"),
            "f.csv:2: column 'time': it is empty in a row with values; give the time of the "
            "observation, or name columns of one value a series with --static");
  EXPECT_EQ(error_of("id,time,feature,value\na,1,,5\n"),
            "f.csv:2: column 'feature': it is empty beside a value; name the feature that was "
            "observed");
  EXPECT_EQ(error_of("id,time,feature,value\na,1,,\n"),
            "f.csv:3: column 'feature': no row names a feature; add at least one");
  EXPECT_EQ(error_of("id,time,feature,value\na,1,time,2\n"),
            "f.csv:2: column 'feature': 'time' cannot name a feature; rename it (not id, time, "
            "label, group or static:…)");
}

TEST(ReadCsvError, QuotesAndBytes) {
  EXPECT_EQ(error_of("id,time,x\na,0,1\n\"b,0,1\nc,0,1\n"),
            "f.csv:3: a quote is opened here and never closed; close it or double the quote "
            "character");
  EXPECT_EQ(error_of("id,time,x\n\"a\"b,0,1\n"),
            "f.csv:2: text follows a closing quote; double the quotes that belong to the text");
  EXPECT_EQ(error_of(std::string_view("id,time,x\na,0,1\0\n", 17)),
            "f.csv:2: holds a zero byte, so this is no text; give a table as CSV");
}

TEST(ReadCsvError, Limits) {
  CsvLimits limits;
  limits.columns = 3;
  limits.text = 5;
  EXPECT_EQ(error_of("id,time,a,b\nx,0,1,2\n", limits),
            "f.csv:1: more than 3 columns; use the long form");
  EXPECT_EQ(error_of("id,time,abcdef\nx,0,1\n", limits),
            "f.csv:1: column 3: its name is longer than 5 bytes; shorten it");
  EXPECT_EQ(error_of("id,time,a\nabcdef,0,1\n", limits),
            "f.csv:2: column 'id': the text is longer than 5 bytes; shorten it or mend a quote");
  limits.bytes = 10;
  EXPECT_EQ(error_of("id,time,x\na,0,1\n", limits),
            "f.csv: is larger than the limit of 10 bytes; split it or raise the limit");
}

}  // namespace
}  // namespace edict
