// Tables that nobody prepared: what is recognised, and how everything that is wrong is told at
// once.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/generator.h"
#include "data/fingerprint.h"
#include "data/read/cells/encoding.h"
#include "data/read/cells/unpack.h"
#include "data/read/csv/csv.h"
#include "messy_files.h"
#include "temporary_folder.h"

namespace edict {
namespace {

using Texts = std::vector<std::string>;

// The options of a messy file, which are written as on the command line.
ReadOptions options_of(const MessyFile& file) {
  ReadOptions options;
  std::istringstream words(file.options);
  for (std::string name, value; words >> name >> value;) {
    const auto list = [&] {
      Texts parts;
      std::istringstream all(value);
      for (std::string part; std::getline(all, part, ',');) parts.push_back(part);
      return parts;
    };
    if (name == "--id") options.id = value;
    if (name == "--label") options.label = value;
    if (name == "--static") options.statics = list();
    if (name == "--category") options.categories = list();
    if (name == "--duplicates") options.duplicates = value;
  }
  return options;
}

Dataset read(const MessyFile& file) {
  Dataset data = read_csv_text(file.bytes, file.name, options_of(file));
  data.check();
  return data;
}

std::string error_of(const std::string& text, const ReadOptions& options = {}) {
  try {
    read_csv_text(text, "f.csv", options);
  } catch (const Error& error) {
    return error.message(command_line_option);
  }
  return "no error";
}

std::string told(const Dataset& data) {
  return with_options(fmt::format("{}", fmt::join(data.reading.recognised, "\n")),
                      command_line_option);
}

TEST(Messy, DatesWithZonesAreHoursFromTheFirstEventAndWrittenAsTheyWere) {
  const Dataset d = read(messy::zones());
  EXPECT_EQ(d.size(), 24u);
  EXPECT_EQ(d.features, (Texts{"heart_rate", "temp"}));
  EXPECT_EQ(d.times[0], 0.0);
  EXPECT_EQ(d.times[1], 2.5);
  EXPECT_EQ(written_time(d, 0, d.times[1]), "2024-03-01T10:30+02:00");
  EXPECT_EQ(written_time(d, 1, 0), "2024-03-02T08:00+01:00");
  EXPECT_EQ(told(d),
            "id is 'subject_id', time is 'charttime' (dates, in hours from each series' first "
            "event)");
}

TEST(Messy, EveryTimeOfADatedFileIsWrittenBackByteForByte) {
  for (const MessyFile& file : {messy::zones(), messy::semicolons(), messy::unix_time()}) {
    const Dataset d = read(file);
    std::size_t events = 0;
    for (std::size_t i = 0; i < d.size(); ++i)
      for (std::size_t e = d.first_event[i]; e < d.first_event[i + 1]; ++e, ++events) {
        const std::string row = d.ids[i] + std::string(file.name == "export.csv" ? ";"
                                                       : file.name == "unix.csv" ? "|"
                                                                                 : ",");
        EXPECT_NE(file.bytes.find(row + written_time(d, i, d.times[e])), std::string::npos)
            << row << written_time(d, i, d.times[e]);
      }
    EXPECT_GT(events, 100u);
  }
}

TEST(Messy, SemicolonsDecimalCommasAndCategories) {
  const Dataset d = read(messy::semicolons());
  EXPECT_EQ(d.features, (Texts{"puls", "laktat"}));
  EXPECT_EQ(d.statics, (Texts{"geschlecht=m", "geschlecht=w"}));
  EXPECT_EQ(d.ids[0], "1000");
  EXPECT_EQ(d.covariates(0)[0], 0.0);
  EXPECT_EQ(d.covariates(0)[1], 1.0);
  EXPECT_EQ(d.covariates(1)[0], 1.0);
  EXPECT_EQ(d.value[0], 80.0);
  EXPECT_EQ(d.value[1], 2.2);  // 81 + 10 sin 1 in fortieths, to a decimal
  EXPECT_EQ(told(d),
            "separated by ';', decimal comma, id is 'patient', time is 'zeit' (dates, in hours "
            "from each series' first event)\n"
            "'geschlecht' has 2 categories (m, w)");
}

TEST(Messy, Latin1AndTabs) {
  const Dataset d = read(messy::latin1());
  EXPECT_EQ(d.features, Texts{"Größe"});
  EXPECT_EQ(d.ids[3], "Müller 3");
  EXPECT_EQ(d.classes, (Texts{"mäßig", "unauffällig"}));
  EXPECT_EQ(d.times[1], 0.5);
  EXPECT_EQ(told(d).substr(0, 64),
            "Windows-1252 (Latin-1), separated by tabs, decimal comma, id is ");
}

TEST(Messy, TextsAreCategoriesAndWordsOfTruthNumbers) {
  const Dataset d = read(messy::categories());
  EXPECT_EQ(d.features, (Texts{"rhythm=AF", "rhythm=paced", "rhythm=sinus", "ventilated", "hr"}));
  EXPECT_EQ(d.statics, (Texts{"sex=f", "sex=m", "ward=3", "ward=4"}));
  // The first event of c0: sinus, not ventilated.
  const auto first = d.observed(0);
  ASSERT_EQ(first.size(), 5u);
  EXPECT_EQ(first[0].value, 0.0);
  EXPECT_EQ(first[2].value, 1.0);
  EXPECT_EQ(first[3].value, 0.0);
  EXPECT_EQ(d.observed(3).size(), 2u) << "a rhythm that is not known is none";
  EXPECT_TRUE(std::isnan(d.covariates(0)[0]) && std::isnan(d.covariates(0)[1]));
  EXPECT_EQ(d.covariates(0)[2], 1.0);
}

TEST(Messy, DuplicatesAreJoinedAsSaid) {
  const Dataset d = read(messy::duplicates());
  EXPECT_EQ(d.events(), 24u * 8u);
  ASSERT_EQ(d.times[3], 3.0);
  const double single = std::stod(messy::number(messy::value(0, 3, 0)));
  EXPECT_NEAR(d.observed(3)[0].value, single + 1, 1e-9);  // the mean of v and v + 2
  EXPECT_NE(
      told(d).find("24 observations were given twice with different values: the mean is taken"),
      std::string::npos);
  ReadOptions options;
  for (const auto& [how, more] : {std::pair("first", 0.0), std::pair("last", 2.0)}) {
    options.duplicates = how;
    EXPECT_NEAR(read_csv_text(messy::duplicates().bytes, "f", options).observed(3)[0].value,
                single + more, 1e-9);
  }
  options = {};
  EXPECT_NE(told(read_csv_text(messy::duplicates().bytes, "f", options))
                .find("the mean is taken (as 'a' of id 'd0' is"),
            std::string::npos);
  options.duplicates = "error";
  const std::string refused = error_of(messy::duplicates().bytes, options);
  EXPECT_TRUE(
      refused.starts_with("f.csv: 24 problems, so nothing was read: 24 observations given "
                          "twice with different values\n  line "))
      << refused;
  EXPECT_NE(refused.find("give --duplicates mean, first or last"), std::string::npos);
}

TEST(Messy, APlusBeforeANumberChangesNothing) {
  const auto read = [](const std::string& plus) {
    return read_csv_text(
        "id;time;x\na;" + plus + "1709280000;" + plus + "1,5\na;" + plus + "1709280060;-2,25\n",
        "f.csv");
  };
  EXPECT_EQ(read("").time_axis.kind, TimeKind::unix_seconds);
  EXPECT_EQ(read("").value[0], 1.5);
  EXPECT_EQ(fingerprint(read("+")), fingerprint(read("")));
}

TEST(Messy, UnixTimeIsCountedFromTheFirstEvent) {
  const Dataset d = read(messy::unix_time());
  EXPECT_EQ(d.ids[1], "sensor 1");
  EXPECT_EQ(d.times[1], 2.0);  // minutes
  EXPECT_EQ(d.time_axis.kind, TimeKind::unix_seconds);
  EXPECT_EQ(written_time(d, 1, 2.0), "1709283720");
  ReadOptions options;
  options.time_unit = "none";
  EXPECT_EQ(read_csv_text(messy::unix_time().bytes, "f", options).times[1], 1709280120.0);
}

TEST(Messy, ACodeForMissingOfAColumnThatIsNotThereIsRefused) {
  ReadOptions options;
  options.missing = {"y=-9"};
  EXPECT_EQ(error_of("id,time,x\na,0,-9\n", options),
            "f.csv:1: --missing: there is no column 'y'; it has 'id', 'time', 'x'");
  options.missing = {"y=no"};
  EXPECT_EQ(error_of("id,time,x\na,0,y=no\na,1,2\n", options), "no error");
}

TEST(Messy, UnixTimeComesInPartsOfASecond) {
  for (const auto& [zeros, kind, words] :
       {std::tuple("000", TimeKind::unix_milliseconds, "milliseconds"),
        std::tuple("000000", TimeKind::unix_microseconds, "microseconds"),
        std::tuple("000000000", TimeKind::unix_nanoseconds, "nanoseconds to the microsecond")}) {
    std::string text = "device,ts,x\n";
    for (int e = 0; e < 12; ++e) text += fmt::format("a,{}{},{}\n", 1709280000 + 90 * e, zeros, e);
    const Dataset d = read_csv_text(text, "f.csv");
    EXPECT_EQ(d.time_axis.kind, kind);
    EXPECT_EQ(d.times[2], 3.0) << "minutes from the first event";
    EXPECT_EQ(written_time(d, 0, 3), fmt::format("1709280180{}", zeros));
    EXPECT_NE(told(d).find(fmt::format("Unix time in {}, in minutes", words)), std::string::npos)
        << told(d);
    ReadOptions plain;
    plain.time_unit = "none";
    EXPECT_EQ(read_csv_text(text, "f.csv", plain).time_axis.kind, TimeKind::number);
  }
}

TEST(Messy, VisitsAreCountedInDaysAndProseIsLeftOut) {
  const Dataset d = read(messy::days());
  EXPECT_EQ(d.features, Texts{"weight"});
  EXPECT_EQ(d.times[1], 21.0);
  EXPECT_EQ(d.time_axis.unit, TimeUnit::day);
  EXPECT_EQ(d.events(0), 7u) << "the visit without a weight is no event";
  EXPECT_EQ(written_time(d, 1, 21), "2021-05-23");
  EXPECT_NE(told(d).find("'comment' is left out: 192 different texts"), std::string::npos);
}

TEST(Messy, ATableWithoutIdsIsOneSeriesUnlessItsTimesRepeat) {
  const Dataset d = read(messy::one_patient());
  EXPECT_EQ(d.size(), 1u);
  EXPECT_EQ(d.events(), 8u);
  const Dataset guessed = read_csv_text(messy::one_patient().bytes, "f.csv");
  EXPECT_EQ(fingerprint(guessed), fingerprint(d));
  EXPECT_TRUE(told(guessed).starts_with("one series, time is 'charttime'")) << told(guessed);
  EXPECT_EQ(error_of("when,where,x\n2024-03-01,in,1\n2024-03-01,out,2\n2024-03-02,in,3\n"),
            "f.csv: there is no column of ids, and 1 of 3 rows have the time of another one, as if "
            "there were several series; name their column, as with --id where, or give "
            "--id none");
}

TEST(Messy, ColumnsThatNeverChangeAreNamed) {
  const Dataset d = read(messy::constants());
  EXPECT_EQ(d.features, (Texts{"hr", "site"}));
  EXPECT_EQ(d.classes, (Texts{"False", "True"}));
  EXPECT_EQ(d.covariates(3)[0], 43.0);
  EXPECT_NE(told(d).find("a column without a name is ignored"), std::string::npos);
  EXPECT_NE(told(d).find("constant within every series, yet taken as features: 'site'"),
            std::string::npos);
}

TEST(Messy, TwoHundredFeaturesOfWhichMostAreMissing) {
  const Dataset d = read(messy::many_features());
  EXPECT_EQ(d.features.size(), 200u);
  EXPECT_NEAR(static_cast<double>(d.observations()), 24 * 8 * 200 / 3.0, 100);
}

TEST(Messy, WhatWriteCsvMakesIsReadWithoutAWord) {
  const Dataset d = read_csv_text(
      "id,time,label,group,static:age,x\na,0,1,g,3,1.5\na,1,1,g,3,\nb,0,0,h,4,2\n", "f");
  EXPECT_TRUE(d.reading.recognised.empty()) << told(d);
}

TEST(Messy, AMissingCellHasManySpellings) {
  for (const char* cell :
       {"", "NA", "NaN", "nan", "null", "NULL", "None", "-", ".", "?", "\"NA\""}) {
    const Dataset d = read_csv_text(
        fmt::format("id,time,x,y,label,static:s\na,0,{0},1,u,1\nb,0,2,{0},{0},{0}\n", cell), "f");
    EXPECT_EQ(d.features, (Texts{"x", "y"})) << cell;
    EXPECT_EQ(d.observations(), 2u) << cell;
    EXPECT_EQ(d.labels[1], Dataset::kNone) << cell;
    EXPECT_TRUE(std::isnan(d.covariates(1)[0])) << cell;
  }
}

TEST(Messy, ColumnsAreFoundByWhatTheyAreCalledOrHold) {
  EXPECT_EQ(read_csv_text("patient,Datum,x\na,2024-03-01,1\n", "f").reading.time, "Datum");
  // By content: the first date, else the first number behind the id.
  EXPECT_EQ(read_csv_text("who,x,when\na,1,2024-03-01\n", "f").reading.time, "when");
  EXPECT_EQ(read_csv_text("who,step,x\na,1,5\na,2,6\n", "f").reading.time, "step");
  // Said, whatever else looks like it.
  ReadOptions options;
  options.id = "who";
  options.time = "b";
  options.features = {"time"};
  const Dataset d = read_csv_text("id,time,b,who\n1,7,3,x\n", "f", options);
  EXPECT_EQ(d.ids, Texts{"x"});
  EXPECT_EQ(d.times[0], 3.0);
  EXPECT_EQ(d.features, Texts{"time"});
  EXPECT_EQ(d.value[0], 7.0);
  options.time = "c";
  EXPECT_EQ(error_of("id,time,b,who\n1,7,3,x\n", options),
            "f.csv:1: --time: there is no column 'c'; it has 'id', 'time', 'b', 'who'");
}

TEST(Messy, LongFormUnderOtherNames) {
  const Dataset d = read_csv_text(
      "subject_id;charttime;itemid;value\n1;2024-03-01 10:00;hr;80\n1;2024-03-01 11:00;rhythm;AF\n"
      "2;2024-03-01 10:00;rhythm;sinus\n2;2024-03-01 10:00;hr;70,5\n",
      "f");
  EXPECT_EQ(d.features, (Texts{"hr", "rhythm=AF", "rhythm=sinus"}));
  EXPECT_EQ(d.events(), 3u);
  EXPECT_EQ(d.observed(2).size(), 3u);
  EXPECT_EQ(d.observed(2)[0].value, 70.5);
  EXPECT_EQ(d.observed(2)[2].value, 1.0);
}

TEST(Messy, WhatWasReadIsWrittenWithItsDates) {
  const TemporaryFolder folder;
  for (const MessyFile& file : {messy::zones(), messy::unix_time(), messy::categories()}) {
    const Dataset d = read(file);
    write_csv(d, folder / "out.csv");
    const Dataset back = read_csv(folder / "out.csv");
    EXPECT_EQ(fingerprint(back), fingerprint(d)) << file.name;
    EXPECT_EQ(written_time(back, 3, 1), written_time(d, 3, 1)) << file.name;
  }
}

// Neither when it is written again, nor before a model that knows dates.
TEST(Messy, ATableWithoutEventsIsOfNoKindOfTime) {
  const TemporaryFolder folder;
  const Dataset d = read_csv_text("id,time,x\na,2024-03-01,\n", "f.csv");
  EXPECT_EQ(d.events(), 0u);
  write_csv(d, folder / "out.csv");
  EXPECT_EQ(fingerprint(read_csv(folder / "out.csv")), fingerprint(d));
  ReadOptions options;
  options.like = KnownReading{d.reading, d.time_axis.rules()};
  EXPECT_EQ(read_csv(folder / "out.csv", options).time_axis.kind, TimeKind::date);
}

TEST(Messy, TheOriginIsChosenOrSaid) {
  const std::string text = "id,time,x\na,2024-03-02,1\na,2024-03-03 12:00,1\nb,2024-03-04,1\n";
  ReadOptions options;
  options.time_unit = "d";
  options.origin = "2024-03-01";
  const Dataset d = read_csv_text(text, "f", options);
  EXPECT_EQ(d.times, (std::vector<double>{1, 2.5, 3}));
  EXPECT_EQ(written_time(d, 1, 3), "2024-03-04 00:00");
  options.origin = "soon";
  EXPECT_EQ(error_of(text, options), "f.csv: --origin soon: give first, or a date as 2024-03-01");
  options = {};
  options.origin = "first";
  EXPECT_EQ(read_csv_text("id,time,x\na,5,1\na,6,1\n", "f", options).times,
            (std::vector<double>{0, 1}));
  options.origin = "4";
  EXPECT_EQ(read_csv_text("id,time,x\na,5,1\na,6,1\n", "f", options).times,
            (std::vector<double>{1, 2}));
}

// ---- as a model's training data were read ----

ReadOptions like(const Dataset& data) {
  ReadOptions options;
  options.like = KnownReading{data.reading, data.time_axis.rules()};
  return options;
}

TEST(MessyAgain, TheSameTableNeedsNoOptions) {
  for (const MessyFile& file : messy_files()) {
    const Dataset first = read(file);
    const Dataset again = read_csv_text(file.bytes, file.name, like(first));
    EXPECT_EQ(fingerprint(again), fingerprint(first)) << file.name;
  }
}

TEST(MessyAgain, UnitAndCategoriesAreThoseOfTheModel) {
  const Dataset first =
      read_csv_text("id,time,x,sex\na,2024-03-01,1,f\na,2024-06-01,2,f\nb,2024-03-01,3,m\n", "f");
  ASSERT_EQ(first.time_axis.unit, TimeUnit::day);
  // A few hours, which alone would be counted in minutes; a category that is new, one that is
  // missing, and a column that the model does not know.
  const Dataset other = read_csv_text(
      "id,time,sex,x,note\nc,2024-03-01 10:00,f,1,hello\nc,2024-03-01 16:00,x,2,you\n", "f",
      like(first));
  EXPECT_EQ(other.time_axis.unit, TimeUnit::day);
  EXPECT_EQ(other.times[1], 0.25);
  EXPECT_EQ(other.features, (Texts{"sex=f", "sex=m", "x"}));
  EXPECT_EQ(other.observed(0).size(), 3u);
  EXPECT_EQ(other.observed(1).size(), 1u);
  EXPECT_EQ(told(other),
            "ignored, as the model does not know them: 'note'\n"
            "1 cells of 'sex' hold a category that the model does not know and count as missing");
}

TEST(MessyAgain, NumbersWhereDatesWereAreRefusedInOneLine) {
  const Dataset dates = read(messy::zones());
  EXPECT_EQ(error_of("id,time,heart_rate\na,0,1\na,1,2\n", like(dates)),
            "f.csv: the times are numbers, and the model was trained on dates, in hours from each "
            "series' first event; give data of that kind");
  const Dataset numbers = read_csv_text("id,time,x\na,0,1\n", "f");
  EXPECT_NE(error_of("id,time,x\na,2024-03-01,1\n", like(numbers)).find("the times are dates"),
            std::string::npos);
  // Unix time is another way to write dates.
  EXPECT_EQ(error_of("id,time,heart_rate\na,1709280000,1\n", like(dates)), "no error");
}

// ---- files ----

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

TEST(MessyBytes, CompressedFilesAreRead) {
  const MessyFile file = messy::zones();
  const std::uint64_t plain = fingerprint(read(file));
  for (const std::string& packed : {gzip(file.bytes), zstd(file.bytes)}) {
    const Dataset d = read_csv_text(packed, "f.csv");
    EXPECT_EQ(fingerprint(d), plain);
    // Cut anywhere it is refused, not half read.
    for (std::size_t size = 4; size < packed.size(); size += 97)
      EXPECT_TRUE(error_of(packed.substr(0, size)).starts_with("f.csv: is compressed and damaged"))
          << size;
  }
  // Two members, as `cat a.gz b.gz` makes them.
  EXPECT_EQ(unpacked(gzip("one ") + gzip("two"), Packing::gzip, "f", 100), "one two");
  EXPECT_EQ(unpacked(zstd("one ") + zstd("two"), Packing::zstd, "f", 100), "one two");
  ReadOptions small;
  small.limits.bytes = 10000;
  const std::string bomb = gzip(std::string(1 << 20, 'x'));
  ASSERT_LT(bomb.size(), 10000u);
  EXPECT_NE(error_of(bomb, small).find("when unpacked"), std::string::npos);
}

TEST(MessyBytes, Utf16AndWindows1252BecomeUtf8) {
  EXPECT_EQ(utf8_from_windows_1252("\x80 M\xfcller \x9f"), "€ Müller Ÿ");
  std::string wide = "\xff\xfe";
  for (const char c : std::string("id,time,x\na,0,1\n")) (wide += c) += '\0';
  EXPECT_EQ(read_csv_text(wide, "f").ids, Texts{"a"});
  EXPECT_EQ(utf8_from_utf16(std::string("\x3d\xd8\x42\xde\xe9\x00\x00", 7), false),
            "🙂é\xef\xbf\xbd");
  EXPECT_EQ(utf8_from_utf16(std::string("\xd8\x3d", 2), true), "\xef\xbf\xbd");
  EXPECT_EQ(error_of("\xef\xbb\xbfid,time,x\nM\xfcller,0,1\n"),
            "f.csv: begins as UTF-8 or UTF-16 and then holds bytes that are neither; convert it");
}

// ---- problems ----

TEST(MessyProblems, AreToldAllAtOnceWithTheirLines) {
  ReadOptions options;
  options.duplicates = "error";
  EXPECT_EQ(
      error_of("id,time,x,y\n"
               "a,0,1,2\n"
               "a,soon,1,2\n"
               ",1,1,2\n"
               "a,2,high,2\n"
               "a,3,1\n"
               "a,4,inf,2\n"
               "b,,3,\n"
               "a,0,5,\n"
               "\"b,1,1,2\n",
               options),
      "f.csv: 8 problems, so nothing was read: 1 row with another number of cells, 1 row "
      "without an id, 1 row with values and no time, 1 time that cannot be read, 1 cell that "
      "is not a number, 1 number that is not finite, 1 observation given twice with "
      "different values, 1 quote that is not closed\n"
      "  line 3: column 'time': 'soon' is neither a number nor a date; write 1.5 or "
      "2024-03-01 12:30\n"
      "  line 4: column 'id': it is empty; give every row an id\n"
      "  line 5: column 'x': 'high' is not a number; write one, or leave the cell empty if "
      "nothing is known (--missing names what stands for it)\n"
      "  line 6: 3 cells where the header has 4; add or remove cells\n"
      "  line 7: column 'x': 'inf' is not finite; write a finite number, or leave the cell "
      "empty if nothing is known (--missing inf says it of all)\n"
      "  line 8: column 'time': it is empty in a row with values; give the time of the "
      "observation, or name columns of one value a series with --static\n"
      "  line 9: column 'x': id 'a' has 5 here and 1 in line 2 at the same time; correct one, "
      "or give --duplicates mean, first or last\n"
      "  line 10: a quote is opened here and never closed; close it or double the quote "
      "character");
}

TEST(MessyProblems, AreCountedBeyondTheFirstTwenty) {
  std::string text = "id,time,x\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("a,{},{}\n", i, i % 2 ? "wrong" : "1");
  const std::string error = error_of(text);
  EXPECT_TRUE(error.starts_with(
      "f.csv: 2500 problems, so nothing was read: 2500 cells that are not numbers\n  line 3: "))
      << error;
  EXPECT_TRUE(error.ends_with("\n  and 2480 more")) << error;
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 21);
}

TEST(MessyProblems, ARowWithTooManyCellsIsOneOfThem) {
  EXPECT_EQ(error_of("id,time,x,y\na,0,1,2\na,b,1,c,d\n"),
            "f.csv:3: 5 cells where the header has 4; add or remove cells");
}

TEST(MessyProblems, LabelsThatAreQuantities) {
  std::string many = "id,time,x,label\n", fractions = many;
  for (int i = 0; i < 30; ++i) many += fmt::format("s{},0,1,{}\n", i, i);
  EXPECT_EQ(error_of(many),
            "f.csv: column 'label': 30 different numbers, which looks like a quantity and not like "
            "classes; make a few classes of it, choose another column with --label, or leave it "
            "out with --label none");
  EXPECT_NE(error_of("id,time,x,label\na,0,1,0.5\nb,0,1,1\n").find("not whole, as 0.5"),
            std::string::npos);
  ReadOptions none;
  none.label = "none";
  const Dataset d = read_csv_text(many, "f", none);
  EXPECT_TRUE(d.classes.empty());
  EXPECT_EQ(d.features, Texts{"x"});
}

TEST(MessyProblems, ZonesAreNamedByAllTimesOrByNone) {
  EXPECT_EQ(error_of("id,time,x\na,2024-03-01 10:00Z,1\na,2024-03-01 11:00,1\n"),
            "f.csv:3: column 'time': '2024-03-01 11:00' names no time zone, and the times before "
            "do; write all alike");
}

// ---- any bytes ----

// Whatever is done to a file, it is read soundly or refused; the sanitizers watch.
TEST(MessyBytes, AnyDamageIsReadSoundlyOrRefused) {
  const std::vector<MessyFile> files = messy_files();
  const std::string_view alphabet = ",;\t|\n\r\"\"0123456789.-+eE:TZ aNx=\xef\xff\xfe\xfc\x1f\x8b";
  Generator rng(11);
  int sound = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const MessyFile& file = files[rng.below(files.size())];
    std::string text = file.bytes.substr(
        0,
        file.bytes.find('\n', std::min<std::size_t>(file.bytes.size() - 1, 300 + rng.below(3000))));
    if (rng.below(20) == 0) text = rng.below(2) == 0 ? gzip(text) : zstd(text);
    for (std::uint64_t k = rng.below(6); k > 0 && !text.empty(); --k) {
      const std::size_t at = rng.below(2) == 0 ? rng.below(text.size())
                                               : rng.below(std::min<std::size_t>(text.size(), 80));
      const char c = alphabet[rng.below(alphabet.size())];
      switch (rng.below(5)) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text.erase(at, 1 + rng.below(8));
          break;
        case 3:
          text[at] = static_cast<char>(rng.below(256));
          break;
        default:
          text.insert(at, text.substr(rng.below(text.size()), rng.below(40)));
      }
    }
    ReadOptions options = rng.below(2) == 0 ? options_of(file) : ReadOptions{};
    try {
      const Dataset d = read_csv_text(text, "f.csv", options);
      d.check();  // its message begins otherwise
      for (std::size_t e = 0; e < d.events(); ++e) ASSERT_FALSE(d.observed(e).empty());
      for (std::size_t i = 0; i < d.size(); ++i) {
        const double first = d.events(i) > 0 ? d.times[d.first_event[i]] : 0.0;
        ASSERT_FALSE(written_time(d, i, first).empty());
      }
      ++sound;
    } catch (const Error& error) {
      ASSERT_TRUE(std::string_view(error.what()).starts_with("f.csv:")) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(sound, 300);
  EXPECT_GT(refused, 300);
}

TEST(Messy, AMillionRows) {
  std::string text = "patient;zeit;puls;rhythmus\n";
  text.reserve(std::size_t{50} << 20);
  const ParsedDate first = parse_date("2024-03-01 00:00:00").value();
  for (int i = 0; i < 1000000; ++i)
    text +=
        fmt::format("{};{};{},5;{}\n", i / 1000,
                    i % 1000 < 100 ? written_date(first.microseconds + 1e6 * i, 0, first.style)
                                   : fmt::format("2024-04-{:02}T{:02}:{:02}:{:02}",
                                                 i % 1000 / 50 + 1, i % 20, i / 20 % 60, i % 60),
                    60 + i % 40, i % 7 ? "sinus" : "AF");
  ReadOptions options;
  options.duplicates = "first";
  const Dataset d = read_csv_text(text, "f", options);
  EXPECT_EQ(d.size(), 1000u);
  EXPECT_EQ(d.features, (Texts{"puls", "rhythmus=AF", "rhythmus=sinus"}));
  EXPECT_GT(d.events(), 900000u);
  EXPECT_EQ(d.time_axis.unit, TimeUnit::day);
}

}  // namespace
}  // namespace edict
