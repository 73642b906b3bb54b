// Exports that a newcomer brings: each is read right or refused, no column is lost without a word,
// and what a message recommends is tried on the file that caused it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "data/read/csv/csv.h"
#include "read/recommended_options.h"

namespace edict {
namespace {

using Texts = std::vector<std::string>;

struct Export {
  const char* name;
  std::string text;
  Texts features;  // none: it is refused
  Texts said;      // parts of the notes or of the message
  std::string second_time = {};
  double first_value = 0;  // of the first feature
  std::size_t series = 1;

  friend void PrintTo(const Export& e, std::ostream* out) { *out << e.name; }
};

template <class Row>
std::string rows(const std::string& header, Row row, int count = 24) {
  std::string text = header;
  for (int k = 0; k < count; ++k) text += row(k) + "\n";
  return text;
}

std::string number(int k, char point = '.') {
  std::string text = fmt::format("{:.1f}", 100 + 7 * std::sin(0.9 * k));
  std::replace(text.begin(), text.end(), '.', point);
  return text;
}

class NewcomersExport : public testing::TestWithParam<Export> {};

TEST_P(NewcomersExport, IsReadRightOrRefusedAndItsRemedyWorks) {
  const Export& e = GetParam();
  std::string said;
  try {
    const Dataset d = read_csv_text(e.text, "f.csv", {});
    d.check();
    said =
        with_options(fmt::format("{}", fmt::join(d.reading.recognised, "\n")), command_line_option);
    EXPECT_EQ(d.features, e.features) << said;
    EXPECT_EQ(d.size(), e.series) << said;
    if (!e.second_time.empty()) {
      EXPECT_EQ(written_time(d, 0, d.times[1]), e.second_time) << said;
    }
    EXPECT_NEAR(d.value[0], e.first_value, 1e-9) << said;
  } catch (const Error& error) {
    said = error.message(command_line_option);
    EXPECT_TRUE(e.features.empty()) << said;
  }
  for (const std::string& part : e.said)
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  EXPECT_EQ(what_remedies_say(said, e.text), "") << said;
}

std::string month(int k) { return fmt::format("{}-{:02}", 2020 + k / 12, k % 12 + 1); }
std::string day(int k) { return fmt::format("2024-03-{:02}", 1 + k / 12); }

std::vector<Export> words_and_numbers() {
  return {
      {"NoneIsADegree",
       rows("id,time,severity,hr\n",
            [](int k) {
              const Texts words{"None", "Mild", "Moderate", "Severe"};
              return fmt::format("a,{},{},{}", k, words[static_cast<std::size_t>(k % 4)],
                                 number(k));
            }),
       {"severity=Mild", "severity=Moderate", "severity=None", "severity=Severe", "hr"},
       {"'severity' has 4 categories (Mild, Moderate, None, Severe)"}},
      {"MinusBesidePlus",
       rows("id,time,nitrite,hr\n",
            [](int k) {
              return fmt::format("a,{},{},{}", k,
                                 k % 3 == 0   ? "-"
                                 : k % 3 == 1 ? "+"
                                              : "++",
                                 number(k));
            }),
       {"nitrite=+", "nitrite=++", "nitrite=-", "hr"},
       {"3 categories (+, ++, -)"}},
      {"NorthAmericaIsAskedFor",
       rows("id,time,region,hr\n",
            [](int k) {
              return fmt::format("a,{},{},{}", k,
                                 k % 3 == 0   ? "NA"
                                 : k % 3 == 1 ? "EU"
                                              : "AS",
                                 number(k));
            }),
       {"region=AS", "region=EU", "hr"},
       {"'region': 8 cells as 'NA' count as missing (--category region keeps them)"},
       "1",
       100},
      {"ALabelNone",
       rows("id,time,label,hr\n",
            [](int k) {
              return fmt::format("p{},{},{},{}", k / 8, k % 8,
                                 k < 8    ? "None"
                                 : k < 16 ? "low"
                                          : "high",
                                 number(k));
            }),
       {"hr"},
       {"'label': 8 cells as 'None' count as unknown (--category label keeps them)"},
       "1",
       100,
       3},
      {"LoggersWriteNan",
       rows("id,time,x\n",
            [](int k) { return fmt::format("a,{},{}", k, k % 5 == 4 ? "NAN" : number(k)); }),
       {"x"},
       {},
       "1",
       100},
      {"InfinityAmongNumbers",
       rows("id,time,x\n",
            [](int k) { return fmt::format("a,{},{}", k, k == 3 ? "Infinity" : number(k)); }),
       {},
       {"'Infinity' is not finite", "--missing Infinity"}},
      {"YesBesideOne",
       rows("id,time,x\n",
            [](int k) {
              const Texts words{"yes", "no", "1", "0"};
              return fmt::format("a,{},{}", k, words[static_cast<std::size_t>(k % 4)]);
            }),
       {"x"},
       {"'x' is 1 for yes and 0 for no"},
       "1",
       1},
      {"NoAmongNumbers",
       rows("id,time,x\n",
            [](int k) { return fmt::format("a,{},{}", k, k == 3 ? "no" : number(k)); }),
       {},
       {"'no' is not a number", "--missing"}},
      {"ThousandsWithoutUnitBesideThousandfoldUnit",
       rows("id,time,hours,power\n",
            [](int k) {
              return k % 2 ? fmt::format("a,{},{},{}", k, k, 1200 + k)
                           : fmt::format("a,{},{},1.{} kW", k, k, 2 + k % 3);
            }),
       {},
       {"'1.2 kW' has a unit, and the numbers without one are far from it", "--ignore power"}},
      {"BothSignsForMicro",
       rows("id,time,troponin\n",
            [](int k) {
              return fmt::format("a,{},{} {}g/L", k, number(k), k % 2 ? "\u00b5" : "\u03bc");
            }),
       {"troponin"},
       {"taken off 24 cells"},
       "1",
       100},
      {"NarrowBlanks",
       rows("id;time;p;q\n",
            [](int k) {
              return fmt::format("a;{};1\u202f2{:02},5;{}\u202fkW", k, k, number(k, ','));
            }),
       {"p", "q"},
       {"with marks between digits", "'kW' taken off 24 cells"},
       "1",
       1200.5},
      {"NarrowBlankBeforePm",
       rows(
           "id,time,p\n",
           [](int k) { return fmt::format("a,\"3/{}/2024, 1:05\u202fPM\",{}", k + 1, number(k)); }),
       {"p"},
       {"dates"},
       "3/2/2024, 1:05 PM",
       100},
      {"ANameWithAComma",
       rows("id,time,\"Temp, out\",x\n",
            [](int k) { return fmt::format("a,{},{},{}", k, k % 2 ? "5 C" : "5 F", number(k)); }),
       {},
       {"--ignore 'Temp, out'"}},
  };
}

std::vector<Export> times() {
  return {
      {"Months",
       rows("station,month,temp\n",
            [](int k) { return fmt::format("a,{},{}", month(k), number(k)); }),
       {"temp"},
       {"time is 'month' (dates, in days"},
       "2020-02",
       100},
      {"Weeks",
       rows("station,period,temp\n",
            [](int k) { return fmt::format("a,2020-W{:02},{}", k + 1, number(k)); }),
       {"temp"},
       {"time is 'period'"},
       "2020-W02",
       100},
      {"Quarters",
       rows("station,quarter,temp\n",
            [](int k) { return fmt::format("a,{}Q{},{}", 2010 + k / 4, k % 4 + 1, number(k)); }),
       {"temp"},
       {"time is 'quarter'"},
       "2010Q2",
       100},
      {"NamedMonths",
       rows("station,period,temp\n",
            [](int k) {
              return fmt::format("a,{} {},{}", k % 2 ? "Feb" : "Jan", 2000 + k / 2, number(k));
            }),
       {"temp"},
       {"time is 'period'"},
       "Feb 2000",
       100},
      {"GermanMonths",
       rows("station;Monat;temp\n",
            [](int k) {
              return fmt::format("a;{:02}.{};{}", k % 12 + 1, 2020 + k / 12, number(k, ','));
            }),
       {"temp"},
       {"time is 'Monat' (dates"},
       "02.2020",
       100},
      {"MonthsInDigits",
       rows(
           "station,date,temp\n",
           [](int k) { return fmt::format("a,{}{:02},{}", 2020 + k / 12, k % 12 + 1, number(k)); }),
       {"temp"},
       {"time is 'date' (dates"},
       "202002",
       100},
      {"YearsBehindAMeasurement",
       rows("country,gdp,year\n",
            [](int k) { return fmt::format("c{},{},{}", k / 12, number(k), 2000 + k % 12); }),
       {"gdp"},
       {"time is 'year' (numbers)"},
       "2001",
       100,
       2},
      {"WeeksThatAreNotRead",
       rows("station,period,temp,rain\n",
            [](int k) { return fmt::format("a,KW {}/2020,{},{}", k + 1, number(k), k); }),
       {},
       {"column 'period': it looks like the time, and 'KW 1/2020' is not a date"}},
      {"YearAndMonthApart",
       rows("station,year,month,temp\n",
            [](int k) { return fmt::format("a,{},{},{}", 2020 + k / 12, k % 12 + 1, number(k)); }),
       {},
       {"the date is divided among 'year', 'month'"}},
      {"MilitaryClock",
       rows("id,date,time,hr\n",
            [](int k) {
              return fmt::format("a,{},{:04},{}", day(k), k % 12 * 100 + 30, number(k));
            }),
       {"hr"},
       {"time is 'date' with 'time' as HHMM"},
       "2024-03-01 01:30",
       100},
      {"PartsOfADay",
       rows("id,date,time,hr\n",
            [](int k) { return fmt::format("a,{},{},{}", day(k), k % 12 / 16.0, number(k)); }),
       {"hr"},
       {"with 'time' as a part of a day"},
       "2024-03-01 01:30",
       100},
      {"SpreadsheetClock",
       rows("id,date,time,hr\n",
            [](int k) {
              return fmt::format("a,{} 00:00:00,1899-12-30 {:02}:30:00,{}", day(k), k % 12,
                                 number(k));
            }),
       {"hr"},
       {"time is 'date' with 'time' (dates"},
       "2024-03-01 01:30:00",
       100},
      {"FromAndTo",
       rows("Station;Datum;von;bis;Wert\n",
            [](int k) {
              return fmt::format("a;{:02}.03.2024;{:02}:00;{:02}:00;{}", 1 + k / 12, k % 12,
                                 k % 12 + 1, number(k, ','));
            }),
       {"Wert"},
       {"time is 'Datum' with 'von'", "'bis' is left out: it holds times of day"},
       "01.03.2024 01:00",
       100},
      {"TwoClocks",
       rows("id,date,drawn,received,hr\n",
            [](int k) {
              return fmt::format("a,{},{:02}:30,{:02}:45,{}", day(k), k % 12, k % 12, number(k));
            }),
       {},
       {"several columns hold times of day beside it: 'drawn' and 'received'",
        "--time date,drawn"}},
      {"AFullDateBesideItsClock",
       rows("id,Date,Time,hr\n",
            [](int k) {
              return fmt::format("a,2024-03-01 {:02}:30:00,{:02}:30:00,{}", k, k, number(k));
            }),
       {"hr"},
       {"time is 'Date' (dates", "'Time'"},
       "2024-03-01 01:30:00",
       100},
      {"HeartRateCalledLikeAnHour",
       rows("id,date,measured,hr\n",
            [](int k) { return fmt::format("a,{},{:02}:30,{}", day(k), k % 12, number(k)); }),
       {"hr"},
       {"time is 'date' with 'measured'"},
       "2024-03-01 01:30",
       100},
  };
}

std::vector<Export> layouts() {
  return {
      {"GermanThousandsUntilTheEnd",
       rows(
           "id;zeit;kW;Anteil\n",
           [](int k) {
             return fmt::format("a;{};1.{};{}", k, 100 + k,
                                k < 300 ? fmt::format("{}", 12 + k) : fmt::format("{},5", k));
           },
           400),
       {"kW", "Anteil"},
       {"decimal comma", "'kW': 400 cells with marks between digits"},
       "1",
       1100},
      {"ThousandsBesideSmallWholeNumbers",
       rows("id;zeit;kW\n",
            [](int k) { return fmt::format("a;{};{}", k, k % 2 ? "812" : "1.696"); }),
       {"kW"},
       {"'1.696' is 1696, as nothing decides it (--decimal point makes it 1.696)"},
       "1",
       1696},
      {"NothingDecidesTheMark",
       rows("id;zeit;kW\n", [](int k) { return fmt::format("a;{};1.{}", k, 600 + k); }),
       {"kW"},
       {"'1.600' is 1.6, as nothing decides it (--decimal comma makes it 1600)"},
       "1",
       1.6},
      {"Toa5",
       rows("\"TOA5\",\"CR1000X\",\"CR1000X\",\"1\",\"Std\",\"CPU\",\"5\",\"Table1\"\n"
            "\"TIMESTAMP\",\"RECORD\",\"BattV_Min\",\"AirTC_Avg\"\n\"TS\",\"RN\",\"Volts\",\"Deg "
            "C\"\n\"\",\"\",\"Min\",\"Avg\"\n",
            [](int k) {
              return fmt::format("\"2024-03-01 {:02}:00:00\",{},12.5,{}", k, k,
                                 k % 6 == 5 ? "\"NAN\"" : number(k));
            }),
       {"BattV_Min", "AirTC_Avg"},
       {"2 rows below the header left out", "counts the rows: 'RECORD'"},
       "2024-03-01 01:00:00",
       12.5},
      {"Toa5AsWideAsItsFirstLine",
       rows("TOA5,CR1000X,CR1000X\nTIMESTAMP,a,b\nTS,Volts,Deg C\n,Min,Avg\n",
            [](int k) { return fmt::format("2024-03-01 {:02}:00:00,{},3", k, number(k)); }),
       {"a", "b"},
       {"1 line before the header left out"},
       "2024-03-01 01:00:00",
       100},
      {"UnitsInWords",
       rows("time,power,speed\nLocal,Kilowatt,Metres per second\n",
            [](int k) { return fmt::format("2024-03-01 {:02}:00,{},{}", k, number(k), k % 5); }),
       {"power", "speed"},
       {"the units below the header left out"},
       "2024-03-01 01:00",
       100},
      {"NoHeader",
       rows("", [](int k) { return fmt::format("p,2024-03-01 {:02}:00,{},{}", k, number(k), k); }),
       {},
       {"this is a row of data and there is no header", "--columns id,time,x1,x2"}},
      {"NoHeaderAndRepeatedNumbers",
       rows("", [](int k) { return fmt::format("2024-03-01 {:02}:00,0,0,{}", k, number(k)); }),
       {},
       {"--columns time,x1,x2,x3"}},
      {"WholeNumbersInFront",
       rows(
           "hr,time,temp\n",
           [](int k) { return fmt::format("{},{},{}", 80 + k * 7 % 5, k, number(k)); }, 48),
       {"hr", "temp"},
       {"one series"},
       "1",
       80},
      {"OneSeriesWithItsValueInFront",
       rows(
           "load,time\n",
           [](int k) {
             return fmt::format("{},2024-03-{:02} {:02}:00", 300 + k * 13 % 40, 1 + k / 24, k % 24);
           },
           48),
       {"load"},
       {"one series"},
       "2024-03-01 01:00",
       300},
      {"NumbersThatAreIds",
       rows("who,time,hr\n",
            [](int k) { return fmt::format("{},{},{}", k / 8, k % 8, number(k)); }),
       {"hr"},
       {"id is 'who'"},
       "1",
       100,
       3},
      {"Omop",
       rows("person_id,measurement_concept_id,measurement_datetime,value_as_number\n",
            [](int k) {
              return fmt::format("{},{},2024-03-01 {:02}:00:00,{}", 1000 + k / 12,
                                 k % 2 ? 3012888 : 3027018, k % 12 / 2, number(k));
            }),
       {"3027018", "3012888"},
       {"feature is 'measurement_concept_id', value is 'value_as_number'"},
       "2024-03-01 01:00:00",
       100,
       2},
      {"Sdtm",
       rows("STUDYID,USUBJID,LBSEQ,LBTESTCD,LBORRES,LBSTRESN,LBSTRESU,LBDTC\n",
            [](int k) {
              return fmt::format("S,S-{},{},{},{},{},{},2024-03-{:02}T08:00", k / 12, k,
                                 k % 2 ? "CRP" : "GLUC", number(k), number(k),
                                 k % 2 ? "mg/L" : "mmol/L", 1 + k % 12 / 2);
            }),
       {"GLUC", "CRP"},
       {"feature is 'LBTESTCD', value is 'LBSTRESN', unit is 'LBSTRESU'",
        "ignored: 'STUDYID', 'LBSEQ', 'LBORRES'"},
       "2024-03-02T08:00",
       100,
       2},
      {"Adam",
       rows("USUBJID,PARAMCD,ADT,AVAL\n",
            [](int k) {
              return fmt::format("S-{},{},2024-03-{:02},{}", k / 12, k % 2 ? "CRP" : "GLUC",
                                 1 + k % 12 / 2, number(k));
            }),
       {"GLUC", "CRP"},
       {"feature is 'PARAMCD', value is 'AVAL'"},
       "2024-03-02",
       100,
       2},
      {"SeveralSensorsWithoutAnId",
       rows("time,bed no,x\n",
            [](int k) {
              return fmt::format("{},{},{}", k / 2, k % 2 ? "left" : "right", number(k));
            }),
       {},
       {"--id 'bed no'"}},
  };
}

INSTANTIATE_TEST_SUITE_P(WordsAndNumbers, NewcomersExport, testing::ValuesIn(words_and_numbers()),
                         [](const auto& p) { return p.param.name; });
INSTANTIATE_TEST_SUITE_P(Times, NewcomersExport, testing::ValuesIn(times()),
                         [](const auto& p) { return p.param.name; });
INSTANTIATE_TEST_SUITE_P(Layouts, NewcomersExport, testing::ValuesIn(layouts()),
                         [](const auto& p) { return p.param.name; });

// ---- what an option names is kept or refused ----

std::string drugs() {
  return rows(
      "id,time,drug,hr\n",
      [](int k) { return fmt::format("p{},{},d{},{}", k / 20, k % 20, k % 60, number(k)); }, 240);
}

TEST(NamedColumns, SixtyCategoriesAreKeptWhereTheyAreSaidToBeSome) {
  ReadOptions options;
  options.categories = {"drug"};
  const Dataset d = read_csv_text(drugs(), "f.csv", options);
  EXPECT_EQ(d.features.size(), 61u);
  EXPECT_EQ(d.reading.categories.size(), 1u);
}

TEST(NamedColumns, AFeatureOfManyTextsIsRefusedWithWhatReadsIt) {
  ReadOptions options;
  options.features = {"drug", "hr"};
  const std::string message = message_of(drugs(), options);
  EXPECT_NE(message.find("column 'drug': it holds 60 different texts; --category drug makes each "
                         "of them a category"),
            std::string::npos)
      << message;
  options.categories = {"drug"};
  EXPECT_EQ(message_of(drugs(), options), "");
}

TEST(NamedColumns, ACategoryThatIsNotThereIsRefused) {
  ReadOptions options;
  options.categories = {"drugs"};
  EXPECT_EQ(message_of(drugs(), options),
            "f.csv:1: --category: there is no column 'drugs'; it has 'id', 'time', 'drug', 'hr'");
}

TEST(NamedColumns, LowerAndUpperCaseMayDifferForCategories) {
  ReadOptions options;
  options.categories = {"WARD"};
  const std::string text = rows("id,time,ward,hr\n", [](int k) {
    return fmt::format("p{},{},{},{}", k / 8, k % 8, k % 3, number(k));
  });
  EXPECT_EQ(read_csv_text(text, "f.csv", options).features,
            (Texts{"ward=0", "ward=1", "ward=2", "hr"}));
}

// ---- a table without a header ----

TEST(WithoutHeader, ColumnsAreNamedByAnOptionAndKnownToTheModel) {
  const std::string text =
      rows("", [](int k) { return fmt::format("p{},{},{}", k / 8, k % 8, number(k)); });
  ReadOptions options;
  options.columns = {"bed", "hour", "hr"};
  options.id = "bed";
  const Dataset d = read_csv_text(text, "f.csv", options);
  EXPECT_EQ(d.features, Texts{"hr"});
  EXPECT_EQ(d.size(), 3u);
  EXPECT_EQ(d.times.size(), 24u);
  ReadOptions like;
  like.like = KnownReading{reading_from_json(to_json(d.reading)), d.time_axis};
  const Dataset again = read_csv_text(text, "f.csv", like);
  EXPECT_EQ(again.features, d.features);
  EXPECT_EQ(again.size(), 3u);
  options.columns = {"bed", "hour"};
  EXPECT_EQ(message_of(text, options), "f.csv:1: 3 columns, and --columns names 2");
}

}  // namespace
}  // namespace edict
