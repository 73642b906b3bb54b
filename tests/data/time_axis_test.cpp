#include "data/time/time_axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <string>

#include "base/error.h"
#include "base/generator.h"
#include "base/json/json.h"
#include "data/dataset.h"
#include "data/subset.h"

namespace edict {
namespace {

double microseconds(const std::string& text) { return parse_date(text).value().microseconds; }

TEST(Date, IsReadInItsCommonForms) {
  const double noon = 1709296200e6;  // 2024-03-01 12:30 UTC, by `date -u +%s`
  for (const char* text :
       {"2024-03-01 12:30", "2024-03-01T12:30", "2024-03-01T12:30Z", "2024-03-01 12:30:00",
        "2024-03-01 12:30:00.000000", "2024/03/01 12:30", "01.03.2024 12:30", "1.3.2024 12:30",
        "2024-03-01T13:30+01:00", "2024-03-01T13:30:00+0100", "2024-03-01 13:30+01",
        "2024-03-01 06:00:00-06:30", "2024-03-01 12:30 UTC", "2024-03-01 13:30:00 +0100"})
    EXPECT_EQ(microseconds(text), noon) << text;
  EXPECT_EQ(microseconds("2024-03-01"), noon - 12.5 * 3600e6);
  EXPECT_EQ(microseconds("2024-03-01 12:30:15.123"), noon + 15.123e6);
  EXPECT_EQ(microseconds("2024-03-01 12:30:15,5"), noon + 15.5e6);
  EXPECT_EQ(microseconds("2024-02-29 24:00"), microseconds("2024-03-01"));
  EXPECT_EQ(microseconds("1969-12-31 23:59:59"), -1e6);
}

TEST(Date, EveryDayOfTheRangeIsTheOneOfTheSystemsCalendar) {
  for (std::int64_t day = -104000; day < 104000; day += 37) {
    const std::time_t seconds = day * 86400 + 3661;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    const auto parsed = parse_date(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->microseconds, 1e6 * static_cast<double>(seconds)) << text;
    EXPECT_EQ(written_date(parsed->microseconds, 0, parsed->style), text);
  }
}

TEST(Date, WhatIsNoneIsNotTakenForOne) {
  for (const char* text : {"",
                           "2024",
                           "2024-13-01",
                           "2024-02-30",
                           "2023-02-29",
                           "1900-02-29",
                           "03/01/2024",
                           "2024-03-01 25:00",
                           "2024-03-01 24:01",
                           "2024-03-01 12:60",
                           "2024-03-01 12",
                           "12:30",
                           "2024-03-01 12:30x",
                           "2024-03-01 12:30:15.",
                           "2024-03-01x12:30",
                           "2024-03-01 12:30+1",
                           "20240301",
                           "1200-01-01",
                           "9999-12-31",
                           "2024-03-01 ",
                           "noon",
                           "1.5",
                           "2024-03-01 12:30 U"})
    EXPECT_FALSE(parse_date(text)) << text;
}

TEST(Date, IsWrittenAsItWasRead) {
  for (const char* text :
       {"2024-03-01", "2024-03-01 12:30", "2024-03-01T12:30:15", "2024-03-01T12:30:15.120Z",
        "2024-03-01 12:30:15.123456+01:00", "2024-03-01 12:30-0330", "2024/03/01 00:00",
        "01.03.2024 12:30", "2024-03-01 12:30 UTC", "2024-03-01 23:30 +02", "1.3.2024 9:05",
        "3/13/2024 1:05 PM", "03-13-2024 01:05 AM", "13-Mar-2024", "Mar 1, 2024", "13.3.24"}) {
    const ParsedDate date = parse_date(text).value();
    EXPECT_EQ(written_date(date.microseconds, date.zone, date.style), text);
  }
}

TEST(Date, WithSlashesIsReadInItsOrder) {
  const double noon = 1709296200e6;
  for (const char* text :
       {"13/03/2024 12:30", "03/13/2024 12:30", "3/13/2024 12:30 PM", "03-13-2024 12:30:00 pm",
        "13.3.24 12:30", "13-Mar-2024 12:30", "March 13, 2024 12:30", "3/13/2024, 12:30 p.m."})
    EXPECT_EQ(microseconds(text), noon + 12 * 86400e6) << text;
  EXPECT_EQ(microseconds("3/13/2024 12:30 AM"), noon + 11.5 * 86400e6);
  // What both orders allow is read in the known one, and what only one allows in no other.
  DateStyle day_first, month_first;
  day_first.order = DateStyle::Order::day_first;
  month_first.order = DateStyle::Order::month_first;
  EXPECT_EQ(parse_date("03/01/2024", &month_first)->microseconds, microseconds("2024-03-01"));
  EXPECT_EQ(parse_date("03/01/2024", &day_first)->microseconds, microseconds("2024-01-03"));
  EXPECT_FALSE(parse_date("03/13/2024", &day_first));
  EXPECT_EQ(parse_date("01.03.2024", &month_first)->microseconds, microseconds("2024-03-01"));
  for (const char* text : {"13/13/2024", "3/13/2024 13:30 PM", "3/13/2024 0:30 AM", "24-03-01"})
    EXPECT_FALSE(parse_date(text)) << text;
}

TEST(Date, OfDigitsIsOneWhereThatIsKnown) {
  EXPECT_EQ(parse_digits_as_date("20240301")->microseconds, microseconds("2024-03-01"));
  EXPECT_EQ(parse_digits_as_date("20240301123015")->microseconds,
            microseconds("2024-03-01 12:30:15"));
  for (const char* text : {"20241301", "2024030", "20240301126015", "20240301.5"})
    EXPECT_FALSE(parse_digits_as_date(text)) << text;
  const ParsedDate digits = parse_digits_as_date("202403011230").value();
  EXPECT_EQ(parse_date("202403011230", &digits.style)->microseconds, digits.microseconds);
  EXPECT_EQ(written_date(digits.microseconds, 0, digits.style), "202403011230");
}

TEST(Date, InAFormatIsReadAndWritten) {
  for (const auto& [format, text] : {std::pair("%d/%m/%Y %H:%M", "01/03/2024 12:30"),
                                     std::pair("%m-%d-%y %I:%M %p", "03-01-24 12:30 PM"),
                                     std::pair("%Y%m%dT%H%M%S%z", "20240301T123000+0000"),
                                     std::pair("%d %b %Y, %T", "01 Mar 2024, 12:30:00"),
                                     std::pair("%F %T.%f", "2024-03-01 12:30:00.000")}) {
    DateStyle style;
    style.format = format;
    check_time_format(format);
    const auto date = parse_date(text, &style);
    ASSERT_TRUE(date) << text;
    EXPECT_EQ(date->microseconds, 1709296200e6) << text;
    EXPECT_EQ(written_date(date->microseconds, date->zone, date->style), text);
    EXPECT_EQ(date_style_from_json(to_json(date->style)), date->style);
    EXPECT_FALSE(parse_date("2024-03-01T12:30", &style));
  }
  EXPECT_THROW(check_time_format("%H:%M"), Error);
  EXPECT_THROW(check_time_format("%Y-%m-%d %Q"), Error);
  EXPECT_THROW(check_time_format("%Y-%m-%d %I"), Error);
}

TEST(Date, AShortStyleIsExtendedWhereTheTimeNeedsIt) {
  const ParsedDate day = parse_date("2024-03-01").value();
  EXPECT_EQ(written_date(day.microseconds + 3600e6, 0, day.style), "2024-03-01 01:00");
  EXPECT_EQ(written_date(day.microseconds + 61.5e6, 0, day.style), "2024-03-01 00:01:01.5");
}

// Two series that begin on other days, in a unit, from their own first events.
Dataset dated(const std::string& text, TimeUnit unit = TimeUnit::hour) {
  Dataset d;
  d.features = {"x"};
  const ParsedDate first = parse_date(text).value();
  d.time_axis.kind = TimeKind::date;
  d.time_axis.unit = unit;
  d.time_axis.from_first = true;
  d.time_axis.style = first.style;
  d.time_axis.zone = first.zone;
  d.time_axis.origin = {first.microseconds, first.microseconds + 86400e6};
  for (const char* id : {"a", "b"}) {
    d.add_series(id);
    for (const double t : {0.0, 1.5}) {
      d.add_event(t);
      d.add_observation(0, 1);
    }
  }
  return d;
}

TEST(WrittenTime, OfADateHasItsFormAndZone) {
  const Dataset d = dated("2024-03-01T12:30+01:00");
  EXPECT_EQ(written_time(d, 0, 0), "2024-03-01T12:30+01:00");
  EXPECT_EQ(written_time(d, 0, 1.5), "2024-03-01T14:00+01:00");
  EXPECT_EQ(written_time(d, 1, 1.5), "2024-03-02T14:00+01:00");
  EXPECT_EQ(time_scale(d, 1), "hours since 2024-03-02T12:30+01:00");
  EXPECT_EQ(described(d.time_axis), "dates, in hours from each series' first event");
}

TEST(WrittenTime, AndReadTimeAreInverse) {
  for (const TimeUnit unit : {TimeUnit::second, TimeUnit::minute, TimeUnit::hour, TimeUnit::day}) {
    const Dataset d = dated("2024-03-01 12:30:15.123", unit);
    Generator rng(5);
    for (int k = 0; k < 1000; ++k) {
      // Whole milliseconds of up to a year, in the unit.
      const double t = static_cast<double>(rng.below(31'536'000'000)) / 1000 / seconds_in(unit);
      const std::string text = written_time(d, 1, t);
      EXPECT_EQ(text.size(), std::string("2024-03-01 12:30:15.123").size());
      EXPECT_NEAR(read_time(d, 1, text), t, 1e-14 * t);  // a rounding or two
      EXPECT_EQ(written_time(d, 1, read_time(d, 1, text)), text);
    }
  }
}

TEST(WrittenTime, OfNumbersIsTheNumber) {
  Dataset d;
  d.features = {"x"};
  d.add_series("a");
  EXPECT_EQ(written_time(d, 0, 0.1), "0.1");
  EXPECT_EQ(written_time(d, 0, 12.5), "12.5");
  EXPECT_EQ(written_time(d, 0, 1e9), "1000000000");
  EXPECT_EQ(read_time(d, 0, "12.5"), 12.5);
  EXPECT_EQ(time_scale(d, 0), "");
  // From the first event: what subtracting left in the last digits is not written.
  d.time_axis.from_first = true;
  d.time_axis.origin = {100.1};
  EXPECT_EQ(written_time(d, 0, 100.4 - 100.1), "100.4");
  d.time_axis.origin[0] = 0;
  d.time_axis.kind = TimeKind::unix_seconds;
  d.time_axis.unit = TimeUnit::hour;
  d.time_axis.origin = {1709296200e6};
  EXPECT_EQ(written_time(d, 0, 2), "1709303400");
  EXPECT_EQ(written_time(d, 0, 0.5 / 3600), "1709296200.5");
  d.time_axis.kind = TimeKind::unix_milliseconds;
  EXPECT_EQ(written_time(d, 0, 2), "1709303400000");
  d.time_axis.kind = TimeKind::unix_microseconds;
  EXPECT_EQ(written_time(d, 0, 2 + 1e-6 / 3600), "1709303400000001");
  d.time_axis.kind = TimeKind::unix_nanoseconds;
  EXPECT_EQ(written_time(d, 0, 2 + 1e-6 / 3600), "1709303400000001000");
  EXPECT_EQ(written_time(d, 0, read_time(d, 0, "1709303400123457000")), "1709303400123457000");
}

TEST(WrittenTime, FollowsTheZonesOfASeries) {
  Dataset d = dated("2024-03-31T01:00+01:00");  // summer time begins an hour later
  const double first = d.time_axis.origin[0];
  d.time_axis.zones = {{0, first, 60}, {0, first + 3600e6, 120}, {1, first, 120}};
  EXPECT_EQ(written_time(d, 0, 0.5), "2024-03-31T01:30+01:00");
  EXPECT_EQ(written_time(d, 0, 1.0), "2024-03-31T03:00+02:00");
  EXPECT_EQ(written_time(d, 1, 0.0), "2024-04-01T02:00+02:00");
  const Dataset second = subset(d, std::vector<std::size_t>{1});
  EXPECT_EQ(written_time(second, 0, 0.0), "2024-04-01T02:00+02:00");
}

TEST(ReadTime, RefusesADateWhereTimesAreNumbersAndWhatIsNeither) {
  Dataset d;
  d.features = {"x"};
  d.add_series("a");
  EXPECT_THROW(read_time(d, 0, "2024-03-01"), Error);
  EXPECT_THROW(read_time(d, 0, "soon"), Error);
  EXPECT_THROW(read_time(dated("2024-03-01"), 0, "soon"), Error);
  // Without a zone a date is meant as the data are written; with one it is taken at its word.
  const Dataset zoned = dated("2024-03-01 12:00+01:00");
  EXPECT_EQ(read_time(zoned, 0, "2024-03-01 13:00"), 1.0);
  EXPECT_EQ(read_time(zoned, 0, "2024-03-01 13:00Z"), 2.0);
  EXPECT_EQ(read_time(zoned, 0, "7"), 7.0);
}

// 03/04/2024 means what it means in the data, and nothing where they do not tell.
TEST(ReadTime, ReadsDayAndMonthInTheOrderOfTheData) {
  const auto error_of = [](const Dataset& d, const char* text) -> std::string {
    try {
      read_time(d, 0, text);
    } catch (const Error& error) {
      return error.message(command_line_option);
    }
    return {};
  };
  for (const char* first : {"15/03/2024", "15.03.2024"}) {
    const Dataset d = dated(first, TimeUnit::day);
    EXPECT_EQ(read_time(d, 0, "03/04/2024"), 19.0) << first;
    EXPECT_EQ(read_time(d, 0, "03.04.2024"), 19.0) << first;
  }
  const Dataset month_first = dated("02/28/2024", TimeUnit::day);
  EXPECT_EQ(read_time(month_first, 0, "03/04/2024"), 5.0);
  EXPECT_EQ(read_time(month_first, 0, "2024-03-04"), 5.0);
  EXPECT_EQ(error_of(month_first, "31/03/2024 12:30"),
            "31/03/2024 12:30: the dates of the data have the month first; write it so, or as "
            "2024-03-31 12:30");
  Dataset in_format = dated("2024-02-28", TimeUnit::day);
  in_format.time_axis.style.format = "%m/%d/%Y";
  EXPECT_EQ(read_time(in_format, 0, "03/04/2024"), 5.0);
  for (const char* first : {"2024-03-01", "20240301"}) {
    Dataset d = dated("2024-03-01");
    d.time_axis.style = (first[4] == '-' ? parse_date(first) : parse_digits_as_date(first))->style;
    EXPECT_EQ(error_of(d, "03/04/2024"),
              "03/04/2024: may have the day first or the month; write the year first, as "
              "2024-03-01");
    EXPECT_EQ(read_time(d, 0, "13/03/2024"), 12 * 24.0) << "only one order is possible";
  }
  Dataset numbers = dated("2024-03-01");
  numbers.time_axis = {};
  EXPECT_EQ(error_of(numbers, "03/04/2024"),
            "03/04/2024: the times of the data are numbers; give a number on their scale");
}

TEST(TimeAxis, ComesBackFromJsonWithoutItsSeries) {
  const TimeAxis axis = dated("01.03.2024 12:30:15.5").time_axis;
  const TimeAxis back = time_axis_from_json(to_json(axis));
  EXPECT_EQ(to_json(back), to_json(axis));
  EXPECT_EQ(back.style, axis.style);
  EXPECT_TRUE(back.origin.empty());
  for (const char* key : {"kind", "unit", "from_first", "epoch", "zone", "style"}) {
    nlohmann::json damaged = to_json(axis);
    damaged[key] = "nonsense";
    EXPECT_ANY_THROW(time_axis_from_json(damaged)) << key;
  }
}

}  // namespace
}  // namespace edict
