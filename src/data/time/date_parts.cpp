#include "data/time/date_parts.h"

#include <algorithm>

namespace edict::dates {
namespace {

using Order = DateStyle::Order;
using Zone = DateStyle::Zone;

// One or two digits of a day or month.
int take_short(Scanner& text, bool& padded) {
  padded &= text.digits_ahead() != 1;
  return text.number(1, 2);
}

// 1-Mar-2024, of which the day was taken, and Mar 1, 2024.
bool take_named_day(Scanner& text, Day& day, DateStyle& style) {
  style.named_month = true;
  if (style.order == Order::year_first) {
    style.order = Order::month_first;
    style.separator = ' ';
    day.month = text.month();
    if (day.month == 0 || !text.take(' ')) return false;
    day.day = take_short(text, style.padded);
    text.take(',');
    if (!text.take(' ')) return false;
  } else {
    day.month = text.month();
    if (day.month == 0 || !text.take(style.separator)) return false;
  }
  day.year = text.number(4, 4);
  return exists(day);
}

// What is on either side of a slash or a dash, in the order that is known or that a number decides.
bool order_day(int first, int second, const DateStyle* like, Day& day, DateStyle& style) {
  if (style.separator == '.')
    style.order = Order::day_first;
  else if (like && like->order != Order::year_first)
    style.order = like->order;
  else if (first > 12 || second > 12 || first == second)
    style.order = second > 12 ? Order::month_first : Order::day_first;
  else
    return false;
  const bool day_first = style.order == Order::day_first;
  day.day = day_first ? first : second;
  day.month = day_first ? second : first;
  return true;
}

}  // namespace

int full_year(int year) { return year < 0 ? year : year + (year < 69 ? 2000 : 1900); }

bool take_day(Scanner& text, Day& day, DateStyle& style, const DateStyle* like) {
  const int digits = text.digits_ahead();
  if (digits == 0) return take_named_day(text, day, style);
  if (digits <= 2) {
    const int first = take_short(text, style.padded);
    style.order = Order::day_first;
    style.separator = text.peek();
    if (is_letter(text.after()) && (text.take('-') || text.take(' '))) {
      day.day = first;
      return take_named_day(text, day, style);
    }
    if (style.separator != '.' && style.separator != '/' && style.separator != '-') return false;
    text.take(style.separator);
    const int second = take_short(text, style.padded);
    if (!text.take(style.separator)) return false;
    // 24-03-01 may begin with the year.
    if (text.digits_ahead() == 2 && style.separator != '-') {
      style.short_year = true;
      day.year = full_year(text.number(2, 2));
    } else {
      day.year = text.number(4, 4);
    }
    return order_day(first, second, like, day, style) && exists(day);
  }
  day.year = text.number(4, 4);
  if (like && like->separator == '\0' && digits >= 8) {
    style.separator = '\0';
    day.month = text.number(2, 2);
    day.day = text.number(2, 2);
    return exists(day);
  }
  style.separator = text.peek();
  if (style.separator != '-' && style.separator != '/' && style.separator != '.') return false;
  text.take(style.separator);
  day.month = take_short(text, style.padded);
  if (!text.take(style.separator)) return false;
  day.day = take_short(text, style.padded);
  return exists(day);
}

bool take_half(Scanner& text, int& hour, DateStyle& style) {
  Scanner ahead = text;
  const bool blank = ahead.take_blank();
  const char half = lower_letter(ahead.peek());
  if (half != 'a' && half != 'p') return true;
  style.lower_half = ahead.peek() == half;
  ahead.take(ahead.peek());
  ahead.take('.');
  if (!ahead.take_letter('m')) return true;
  ahead.take('.');
  if (hour < 1 || hour > 12) return false;
  hour = hour % 12 + (half == 'p' ? 12 : 0);
  style.twelve_hours = true;
  style.blank_before_half = blank;
  text = ahead;
  return true;
}

std::int64_t take_decimals(Scanner& text, DateStyle& style) {
  const int given = text.digits_ahead();
  if (given < 1 || given > 9) return -1;
  style.decimals = static_cast<std::uint8_t>(std::min(given, 6));
  std::int64_t fraction = text.number(1, 9);
  for (int digits = given; digits < 9; ++digits) fraction *= 10;
  return (fraction + 500) / 1000;
}

std::int64_t take_clock(Scanner& text, DateStyle& style, char colon) {
  style.padded_hour = text.digits_ahead() != 1;
  int hour = text.number(1, 2);
  if (hour < 0 || hour > 24 || !text.take(colon)) return -1;
  const int minute = text.number(2, 2);
  if (minute < 0 || minute > 59) return -1;
  std::int64_t result = 0;
  if (text.take(colon)) {
    style.seconds = true;
    const int second = text.number(2, 2);
    if (second < 0 || second > 60) return -1;  // 60: a leap second
    result = std::int64_t{second} * 1'000'000;
    if (text.peek() == '.' || text.peek() == ',') {
      text.take(text.peek());
      const std::int64_t fraction = take_decimals(text, style);
      if (fraction < 0) return -1;
      result += fraction;
    }
  }
  if (!take_half(text, hour, style)) return -1;
  result += hour * kHour + minute * kMinute;
  return result <= kDay ? result : -1;
}

bool take_zone(Scanner& text, std::int16_t& zone, DateStyle& style) {
  if (text.take('Z') || text.take('z')) {
    style.zone = Zone::letter;
    return true;
  }
  if (text.take('U')) {
    style.zone = Zone::utc;
    return text.take('T') && text.take('C');
  }
  const bool west = text.peek() == '-';
  if (!text.take('+') && !text.take('-')) return false;
  const int hours = text.number(2, 2);
  int minutes = 0;
  style.zone = Zone::hours;
  if (text.take(':')) {
    style.zone = Zone::colon;
    minutes = text.number(2, 2);
  } else if (text.digits_ahead() > 0) {
    style.zone = Zone::digits;
    minutes = text.number(2, 2);
  }
  if (hours < 0 || hours > 18 || minutes < 0 || minutes > 59) return false;
  const int offset = 60 * hours + minutes;
  zone = static_cast<std::int16_t>(west ? -offset : offset);
  return true;
}

std::optional<ParsedDate> date_of(const Day& day, std::int64_t clock, ParsedDate result) {
  const std::int64_t local = days_until(day.year, day.month, day.day) * kDay + clock;
  // 24:00 and a leap second belong to the next day, and the last year has none after it.
  if (local >= days_until(kLastYear + 1, 1, 1) * kDay) return std::nullopt;
  result.microseconds = static_cast<double>(local - result.zone * kMinute);
  return result;
}

}  // namespace edict::dates
