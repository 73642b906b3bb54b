// Dates and times of day as people and programs write them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace edict {

// How a date is written: 2024-03-01T12:30:15.123+01:00, or fewer parts of it, or 01.03.2024,
// 3/1/2024 12:30 PM, 20240301, 1-Mar-2024, or without its day as 2020-01, 2020Q1 and 2020-W05, or
// in a format that was given.
struct DateStyle {
  // None, Z, UTC, +01, +0100, +01:00.
  enum class Zone : std::uint8_t { none, letter, utc, hours, digits, colon };
  enum class Order : std::uint8_t { year_first, day_first, month_first };
  enum class Period : std::uint8_t { day, month, quarter, week };

  Period period = Period::day;
  Order order = Order::year_first;
  char separator = '-';      // between year, month and day; zero: 20240301
  bool padded = true;        // 03/01 and not 3/1
  bool named_month = false;  // Mar
  bool short_year = false;   // 24
  char between = ' ';        // between date and time of day
  bool clock = false;        // has a time of day
  char colon = ':';          // in it; zero: 1230
  bool minutes = true;       // without: 12 of 2024030112
  bool seconds = false;
  std::uint8_t decimals = 0;  // of the seconds
  bool twelve_hours = false;  // 1:30 PM
  bool padded_hour = true;    // 01:30 PM
  bool blank_before_half = true;
  bool lower_half = false;  // pm
  Zone zone = Zone::none;
  bool blank_before_zone = false;
  std::string format;  // as of strptime; where there is one it alone counts

  bool operator==(const DateStyle&) const = default;
};

// Microseconds since 1970-01-01 00:00: of UTC where the date names a zone, else as written. A
// double holds each of them from 1685 to 2255, which is the range that is read.
struct ParsedDate {
  double microseconds;
  std::int16_t zone;  // minutes east of UTC
  DateStyle style;
};

// 03/04/2024 is March or April: it is read where a number above 12 decides, or in the way of
// `like`, whose order and format others then have to have as well. 20240301 is read where `like`
// is written so, and is a number otherwise. Dots are between day, month and year, in this order.
std::optional<ParsedDate> parse_date(std::string_view text, const DateStyle* like = nullptr);

// A day as parse_date reads it that may be in either order.
bool has_open_order(std::string_view text);

// The order of day and month that the text can only have; none where both would do, or neither.
std::optional<DateStyle::Order> only_order(std::string_view text);

// A month of digits alone, as 01.2020 or 202001, which is a number elsewhere: its style.
std::optional<DateStyle> style_of_digit_month(std::string_view text);

// A date of digits alone: 20240301, 2024030112, 202403011230 or 20240301123015.
std::optional<ParsedDate> parse_digits_as_date(std::string_view text);

// Whether what is written in this style is read without knowing it.
bool reads_back(const DateStyle& style);

// A time of day, as 12:30, 12:30:15.5, 18.00.00 or 1:30 PM, in microseconds.
std::optional<double> parse_clock(std::string_view text, DateStyle& style);

// In this style, with further parts where the time needs them; to the microsecond.
std::string written_date(double microseconds, std::int16_t zone, const DateStyle& style);

// The style that has every part that either has.
DateStyle fuller(DateStyle a, const DateStyle& b);

// The format of strptime for dates in this style.
std::string format_of(const DateStyle& style);

// Throws Error where a format of strptime holds what is not read here.
void check_time_format(std::string_view format);

// from_json throws Error or nlohmann's exception where the text is not what to_json writes.
nlohmann::json to_json(const DateStyle& style);
DateStyle date_style_from_json(const nlohmann::json& json);

}  // namespace edict
