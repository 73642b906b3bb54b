#include "data/time/date_format.h"

#include <fmt/core.h>

#include "base/error.h"
#include "data/time/date_parts.h"
#include "data/time/date_write.h"

namespace edict::dates {
namespace {

// One directive, or a character that stands for itself.
struct Directive {
  char what;  // '\0': `literal`
  char literal;
};

// Takes the next one off the format; those that stand for several are spelled out.
Directive next_of(std::string& format) {
  const char c = format.front();
  format.erase(0, 1);
  if (c != '%' || format.empty()) return {'\0', c};
  const char what = format.front();
  format.erase(0, 1);
  switch (what) {
    case '%':
      return {'\0', '%'};
    case 'F':
      format.insert(0, "-%m-%d");
      return {'Y', '\0'};
    case 'T':
      format.insert(0, ":%M:%S");
      return {'H', '\0'};
    case 'R':
      format.insert(0, ":%M");
      return {'H', '\0'};
    case 'D':
      format.insert(0, "/%d/%y");
      return {'m', '\0'};
    case 'e':
      return {'d', '\0'};
    case 'h':
    case 'B':
      return {'b', '\0'};
    default:
      return {what, '\0'};
  }
}

}  // namespace

std::optional<ParsedDate> parse_in_format(std::string_view text, const DateStyle& like) {
  ParsedDate result{0.0, 0, like};
  Scanner scanner(text);
  Day day{0, 1, 1};  // a month or a year alone begins with its first day
  int hour = 0, minute = 0, second = 0;
  std::int64_t fraction = 0;
  bool sound = true;
  for (std::string format = like.format; sound && !format.empty();) {
    const auto take = [&](int least, int most, int& to) {
      to = scanner.number(least, most);
      return to >= 0;
    };
    switch (const Directive next = next_of(format); next.what) {
      case 'Y':
        sound = take(4, 4, day.year);
        break;
      case 'y':
        sound = take(2, 2, day.year);
        day.year = full_year(day.year);
        break;
      case 'm':
        sound = take(1, 2, day.month);
        break;
      case 'd':
        sound = take(1, 2, day.day);
        break;
      case 'b':
        sound = (day.month = scanner.month()) > 0;
        break;
      case 'H':
      case 'I':
        sound = take(1, 2, hour) && hour <= 24;
        break;
      case 'M':
        sound = take(1, 2, minute) && minute <= 59;
        break;
      case 'S':
        sound = take(1, 2, second) && second <= 60;
        break;
      case 'f':
        sound = (fraction = take_decimals(scanner, result.style)) >= 0;
        break;
      case 'p':
        result.style.twelve_hours = false;
        sound = take_half(scanner, hour, result.style) && result.style.twelve_hours;
        break;
      case 'z':
        sound = take_zone(scanner, result.zone, result.style);
        break;
      default:
        sound = scanner.take(next.literal);
    }
  }
  if (!sound || !scanner.done() || !exists(day)) return std::nullopt;
  const std::int64_t clock = hour * kHour + minute * kMinute + second * 1'000'000 + fraction;
  if (clock > kDay) return std::nullopt;
  return date_of(day, clock, result);
}

std::string written_in_format(const Day& day, std::int64_t clock, std::int16_t zone,
                              const DateStyle& style) {
  std::string text;
  const auto hour = static_cast<int>(clock / kHour);
  for (std::string format = style.format; !format.empty();) {
    switch (const Directive next = next_of(format); next.what) {
      case 'Y':
        text += fmt::format("{:04}", day.year);
        break;
      case 'y':
        text += fmt::format("{:02}", day.year % 100);
        break;
      case 'm':
        text += fmt::format("{:02}", day.month);
        break;
      case 'd':
        text += fmt::format("{:02}", day.day);
        break;
      case 'b':
        text += kMonths[day.month - 1].substr(0, 3);
        break;
      case 'H':
        text += fmt::format("{:02}", hour);
        break;
      case 'I':
        text += fmt::format("{:02}", (hour + 11) % 12 + 1);
        break;
      case 'M':
        text += fmt::format("{:02}", clock / kMinute % 60);
        break;
      case 'S':
        text += fmt::format("{:02}", clock / 1'000'000 % 60);
        break;
      case 'f':
        text += fmt::format("{:06}", clock % 1'000'000).substr(0, style.decimals);
        break;
      case 'p':
        text += style.lower_half ? (hour < 12 ? "am" : "pm") : (hour < 12 ? "AM" : "PM");
        break;
      case 'z':
        text += written_zone(zone, style);
        break;
      default:
        text += next.literal;
    }
  }
  return text;
}

}  // namespace edict::dates

namespace edict {

std::string format_of(const DateStyle& style) {
  if (!style.format.empty()) return style.format;
  const std::string between = style.separator == '\0' ? "" : std::string(1, style.separator);
  const std::string day = "%d", month = style.named_month ? "%b" : "%m",
                    year = style.short_year ? "%y" : "%Y";
  std::string format;
  if (style.period == DateStyle::Period::month)
    return style.order == DateStyle::Order::year_first ? year + between + month
                                                       : month + between + year;
  switch (style.order) {
    case DateStyle::Order::day_first:
      format = day + between + month + between + year;
      break;
    case DateStyle::Order::month_first:
      format = style.named_month ? month + " " + day + ", " + year
                                 : month + between + day + between + year;
      break;
    case DateStyle::Order::year_first:
      format = year + between + month + between + day;
  }
  if (!style.clock) return format;
  const std::string colon = style.colon == '\0' ? "" : ":";
  if (style.between == ',')
    format += ", ";
  else if (style.between != '\0')
    format += style.between;
  format += style.twelve_hours ? "%I" : "%H";
  if (style.minutes) format += colon + "%M";
  if (style.seconds) format += colon + "%S";
  if (style.decimals > 0) format += ".%f";
  if (style.twelve_hours) format += style.blank_before_half ? " %p" : "%p";
  if (style.zone != DateStyle::Zone::none) format += style.blank_before_zone ? " %z" : "%z";
  return format;
}

void check_time_format(std::string_view format) {
  std::string seen;
  for (std::string rest(format); !rest.empty();) {
    const char what = dates::next_of(rest).what;
    if (what != '\0' && std::string_view("YymdbHIMSfpz").find(what) == std::string_view::npos)
      throw Error(
          fmt::format("{}: %{} is not read; give %Y %y %m %d %b %H %I %M %S %f %p %z, as in "
                      "'%d/%m/%Y %H:%M'",
                      option("time_format", format), what));
    seen += what;
  }
  const auto has = [&](const char* any) { return seen.find_first_of(any) != std::string::npos; };
  if (!has("Yy") || (has("d") && !has("mb")))
    throw Error(
        fmt::format("{}: it needs a year, and a month where it has a day, as in '%d/%m/%Y %H:%M'",
                    option("time_format", format)));
  if (has("I") != has("p"))
    throw Error(fmt::format("{}: %I and %p go together", option("time_format", format)));
}

}  // namespace edict
