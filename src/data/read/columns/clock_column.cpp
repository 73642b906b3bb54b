#include "data/read/columns/clock_column.h"

#include <algorithm>
#include <cmath>

#include "data/read/columns/time_column.h"

namespace edict {
namespace {

constexpr double kSecond = 1e6, kHour = 3600e6, kDay = 24 * kHour;

// The time of day behind the day that spreadsheets and databases write for none.
std::optional<std::string_view> behind_no_day(std::string_view cell) {
  for (const std::string_view day :
       {"1899-12-30", "1899-12-31", "1900-01-00", "1900-01-01", "30.12.1899", "31.12.1899",
        "12/30/1899", "12/31/1899", "1/0/1900"})
    if (cell.starts_with(day) && cell.size() > day.size() + 1 &&
        (cell[day.size()] == ' ' || cell[day.size()] == 'T'))
      return cell.substr(day.size() + 1);
  return std::nullopt;
}

bool is_whole(double number) { return number == std::floor(number); }

// Of 930 and 123015: hours and minutes, and seconds where there are some.
std::optional<double> from_digits(double number, bool seconds) {
  if (!is_whole(number) || number < 0) return std::nullopt;
  const double scale = seconds ? 100 : 1;
  const double second = seconds ? std::fmod(number, 100) : 0;
  const double minute = std::fmod(std::floor(number / scale), 100);
  const double hour = std::floor(number / (100 * scale));
  const double result = hour * kHour + minute * 60 * kSecond + second * kSecond;
  if (hour > 24 || minute > 59 || second > 59 || result > kDay) return std::nullopt;
  return result;
}

}  // namespace

std::optional<double> read_clock_cell(std::string_view cell, ClockForm form, DateStyle& style) {
  if (form == ClockForm::text) return parse_clock(cell, style);
  if (form == ClockForm::stamp) {
    const auto clock = behind_no_day(cell);
    return clock ? parse_clock(*clock, style) : std::nullopt;
  }
  const auto number = number_with_comma(std::string(cell));
  if (!number) return std::nullopt;
  std::optional<double> result;
  switch (form) {
    case ClockForm::hhmm:
      result = from_digits(*number, false);
      break;
    case ClockForm::hhmmss:
      result = from_digits(*number, true);
      break;
    case ClockForm::seconds:
      if (is_whole(*number) && *number >= 0 && *number <= 86400) result = *number * kSecond;
      break;
    case ClockForm::fraction:
      if (*number >= 0 && *number <= 1) result = std::round(*number * 86400) * kSecond;
      break;
    default:
      if (*number >= 0 && *number <= 24) result = std::round(*number * 3600) * kSecond;
  }
  if (!result) return std::nullopt;
  style.clock = true;
  style.seconds |= std::fmod(*result, 60 * kSecond) != 0;
  return result;
}

std::optional<ClockForm> clock_form(std::span<const std::string> cells, ClockName name) {
  const auto all_in = [&](ClockForm form) {
    return std::ranges::all_of(cells, [&](const std::string& cell) {
      DateStyle style;
      return read_clock_cell(cell, form, style).has_value();
    });
  };
  if (cells.empty()) return std::nullopt;
  for (const ClockForm form : {ClockForm::text, ClockForm::stamp})
    if (all_in(form)) return form;
  if (name == ClockName::silent) return std::nullopt;
  if (all_in(ClockForm::hours) && !all_in(ClockForm::fraction)) return ClockForm::hours;
  if (name != ClockName::surely) return std::nullopt;
  const bool some_parts = std::ranges::any_of(cells, [](const std::string& cell) {
    return !is_whole(number_with_comma(cell).value_or(0));
  });
  if (some_parts && all_in(ClockForm::fraction)) return ClockForm::fraction;
  for (const ClockForm form :
       {ClockForm::hours, ClockForm::hhmm, ClockForm::hhmmss, ClockForm::seconds})
    if (all_in(form)) return form;
  return std::nullopt;
}

std::string_view described(ClockForm form) {
  switch (form) {
    case ClockForm::hours:
      return " in hours";
    case ClockForm::hhmm:
      return " as HHMM";
    case ClockForm::hhmmss:
      return " as HHMMSS";
    case ClockForm::seconds:
      return " in seconds";
    case ClockForm::fraction:
      return " as a part of a day";
    default:
      return "";
  }
}

}  // namespace edict
