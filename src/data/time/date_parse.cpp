#include <algorithm>

#include "data/time/date_format.h"
#include "data/time/date_parts.h"
#include "data/time/date_period.h"
#include "data/time/date_scanner.h"
#include "data/time/date_text.h"

namespace edict {

std::optional<ParsedDate> parse_date(std::string_view text, const DateStyle* like) {
  using namespace dates;
  if (like && !like->format.empty()) return parse_in_format(text, *like);
  ParsedDate result{0.0, 0, {}};
  Scanner scanner(text);
  Day day{};
  if (!take_day(scanner, day, result.style, like)) return parse_period(text, like);
  std::int64_t clock = 0;
  if (!scanner.done()) {
    result.style.clock = true;
    result.style.between = scanner.peek();
    if (result.style.separator == '\0' && scanner.digits_ahead() > 0) {
      result.style.between = '\0';
      return parse_digits_as_date(text);
    }
    if (scanner.take(',')) {
      if (!scanner.take(' ')) return std::nullopt;
    } else if (!scanner.take('T') && !scanner.take(' ') && !scanner.take('t')) {
      return std::nullopt;
    }
    clock = take_clock(scanner, result.style);
    if (clock < 0) return std::nullopt;
    if (!scanner.done()) {
      result.style.blank_before_zone = scanner.take(' ');
      if (!take_zone(scanner, result.zone, result.style) || !scanner.done()) return std::nullopt;
    }
  }
  return date_of(day, clock, result);
}

bool has_open_order(std::string_view text) {
  if (parse_date(text)) return false;
  DateStyle day_first;
  day_first.order = DateStyle::Order::day_first;
  return parse_date(text, &day_first).has_value();
}

std::optional<DateStyle::Order> only_order(std::string_view text) {
  DateStyle day_first, month_first;
  day_first.order = DateStyle::Order::day_first;
  month_first.order = DateStyle::Order::month_first;
  const bool day = parse_date(text, &day_first).has_value(),
             month = parse_date(text, &month_first).has_value();
  if (day == month) return std::nullopt;
  return day ? day_first.order : month_first.order;
}

std::optional<DateStyle> style_of_digit_month(std::string_view text) {
  for (const char separator : {'.', '\0'}) {
    DateStyle style;
    style.period = DateStyle::Period::month;
    style.separator = separator;
    const auto date = parse_date(text, &style);
    if (date && date->style.period == style.period && date->style.separator == separator)
      return date->style;
  }
  return std::nullopt;
}

std::optional<ParsedDate> parse_digits_as_date(std::string_view text) {
  using namespace dates;
  Scanner scanner(text);
  const int digits = scanner.digits_ahead();
  if (static_cast<std::size_t>(digits) != text.size() ||
      (digits != 8 && digits != 10 && digits != 12 && digits != 14))
    return std::nullopt;
  ParsedDate result{0.0, 0, {}};
  result.style.separator = '\0';
  Day day{};
  day.year = scanner.number(4, 4);
  day.month = scanner.number(2, 2);
  day.day = scanner.number(2, 2);
  if (!exists(day)) return std::nullopt;
  std::int64_t clock = 0;
  if (!scanner.done()) {
    result.style.clock = true;
    result.style.between = result.style.colon = '\0';
    const int hour = scanner.number(2, 2);
    result.style.minutes = !scanner.done();
    const int minute = scanner.done() ? 0 : scanner.number(2, 2);
    result.style.seconds = !scanner.done();
    const int second = scanner.done() ? 0 : scanner.number(2, 2);
    if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
    clock = hour * kHour + minute * kMinute + second * 1'000'000;
  }
  return date_of(day, clock, result);
}

std::optional<double> parse_clock(std::string_view text, DateStyle& style) {
  using namespace dates;
  DateStyle own;
  Scanner scanner(text);
  std::int64_t clock = take_clock(scanner, own);
  if (clock < 0) {
    scanner = Scanner(text);
    clock = take_clock(scanner, own, '.');
    if (!own.seconds) return std::nullopt;  // 18.30 is a number
  }
  if (clock < 0 || !scanner.done()) return std::nullopt;
  style.clock = true;
  style.seconds |= own.seconds;
  style.decimals = std::max(style.decimals, own.decimals);
  style.twelve_hours = own.twelve_hours;
  style.padded_hour = own.padded_hour;
  style.blank_before_half = own.blank_before_half;
  style.lower_half = own.lower_half;
  return static_cast<double>(clock);
}

}  // namespace edict
