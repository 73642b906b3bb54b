#include "data/time/date_period.h"

#include <fmt/core.h>

#include "data/time/calendar_days.h"
#include "data/time/date_parts.h"
#include "data/time/date_scanner.h"

namespace edict::dates {
namespace {

using Order = DateStyle::Order;
using Period = DateStyle::Period;

// Monday is 0; 1970-01-01 was a Thursday.
std::int64_t weekday_at(std::int64_t days) { return ((days + 3) % 7 + 7) % 7; }

// The Monday of the week that holds 4 January, which is the first one (ISO 8601).
std::int64_t first_week(int year) {
  const std::int64_t fourth = days_until(year, 1, 4);
  return fourth - weekday_at(fourth);
}

// The number of the period behind its sign: 01, Jan, Q1, W05.
bool take_part(Scanner& text, DateStyle& style, int& number) {
  if (is_letter(text.peek())) {
    if (is_letter(text.after())) {
      style.named_month = true;
      number = text.month();
      return number > 0;
    }
    const bool quarter = text.take_letter('q');
    if (!quarter && !text.take_letter('w')) return false;
    style.period = quarter ? Period::quarter : Period::week;
    number = quarter ? text.number(1, 1) : text.number(2, 2);
    return number >= 1 && number <= (quarter ? 4 : 53);
  }
  style.padded = text.digits_ahead() != 1;
  number = text.number(1, 2);
  return number >= 1 && number <= 12;
}

bool may_separate(const DateStyle& style, const DateStyle* like) {
  if (style.period != Period::month || style.named_month)
    return style.separator != '.' && (style.separator != '\0' || !style.named_month);
  if (style.separator == '-' || style.separator == '/') return true;
  return like && like->period == Period::month && like->separator == style.separator;
}

char take_separator(Scanner& text) {
  for (const char c : {'-', '/', ' ', '.'})
    if (text.take(c)) return c;
  return '\0';
}

std::int64_t first_day(int year, int number, Period period) {
  if (period == Period::week) return first_week(year) + 7 * (number - 1);
  return days_until(year, period == Period::quarter ? 3 * number - 2 : number, 1);
}

}  // namespace

std::optional<ParsedDate> parse_period(std::string_view text, const DateStyle* like) {
  ParsedDate result{0.0, 0, {}};
  DateStyle& style = result.style;
  style.period = Period::month;
  Scanner scanner(text);
  int year = 0, number = 0;
  const int digits = scanner.digits_ahead();
  if (digits >= 4) {
    if (digits > 4 && !(digits == 6 && like && like->separator == '\0')) return std::nullopt;
    year = scanner.number(4, 4);
    style.separator = take_separator(scanner);
    if (!take_part(scanner, style, number)) return std::nullopt;
  } else {
    style.order = Order::month_first;
    if (!take_part(scanner, style, number)) return std::nullopt;
    style.separator = take_separator(scanner);
    if (style.separator == '\0' || scanner.digits_ahead() != 4) return std::nullopt;
    year = scanner.number(4, 4);
  }
  if (!scanner.done() || !may_separate(style, like)) return std::nullopt;
  if (year < kFirstYear || year > kLastYear) return std::nullopt;
  const std::int64_t days = first_day(year, number, style.period);
  // Not every year has a week 53.
  if (style.period == Period::week && days >= first_week(year + 1)) return std::nullopt;
  return date_of(day_at(days), 0, result);
}

std::optional<std::string> written_period(std::int64_t days, std::int64_t clock,
                                          const DateStyle& style) {
  Day day = day_at(days);
  std::string part;
  if (clock != 0) return std::nullopt;
  if (style.period == Period::week) {
    if (weekday_at(days) != 0) return std::nullopt;
    day.year = day_at(days + 3).year;  // that of its Thursday
    part = fmt::format("W{:02}", (days - first_week(day.year)) / 7 + 1);
  } else if (style.period == Period::quarter) {
    if (day.day != 1 || day.month % 3 != 1) return std::nullopt;
    part = fmt::format("Q{}", day.month / 3 + 1);
  } else {
    if (day.day != 1) return std::nullopt;
    part = style.named_month ? std::string(kMonths[day.month - 1].substr(0, 3))
           : style.padded    ? fmt::format("{:02}", day.month)
                             : fmt::format("{}", day.month);
  }
  const std::string between(style.separator == '\0' ? 0 : 1, style.separator);
  if (style.order == Order::year_first) return fmt::format("{:04}{}{}", day.year, between, part);
  return fmt::format("{}{}{:04}", part, between, day.year);
}

}  // namespace edict::dates
