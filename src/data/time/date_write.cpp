#include "data/time/date_write.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

#include "data/time/calendar_days.h"
#include "data/time/date_format.h"
#include "data/time/date_period.h"

namespace edict::dates {
namespace {

using Order = DateStyle::Order;
using Zone = DateStyle::Zone;

std::string two_digits(int number, bool padded) {
  return fmt::format(fmt::runtime(padded ? "{:02}" : "{}"), number);
}

std::string written_day(const Day& day, const DateStyle& style) {
  const std::string_view month_name = kMonths[day.month - 1].substr(0, 3);
  const std::string number = two_digits(day.day, style.padded),
                    month = style.named_month ? std::string(month_name)
                                              : two_digits(day.month, style.padded),
                    year = style.short_year ? fmt::format("{:02}", day.year % 100)
                                            : fmt::format("{:04}", day.year);
  const std::string between = style.separator == '\0' ? "" : std::string(1, style.separator);
  switch (style.order) {
    case Order::day_first:
      return number + between + month + between + year;
    case Order::month_first:
      if (style.named_month) return month + " " + number + ", " + year;
      return month + between + number + between + year;
    case Order::year_first:
      break;
  }
  return year + between + month + between + number;
}

std::string written_clock(std::int64_t clock, const DateStyle& style) {
  const auto hour = static_cast<int>(clock / kHour);
  std::string text =
      two_digits(style.twelve_hours ? (hour + 11) % 12 + 1 : hour, style.padded_hour);
  if (!style.minutes && clock % kHour == 0) return text;
  text += fmt::format("{}{:02}", style.colon == '\0' ? "" : ":", clock / kMinute % 60);
  const std::int64_t rest = clock % kMinute;
  if (style.seconds || rest > 0) {
    text += fmt::format("{}{:02}", style.colon == '\0' ? "" : ":", rest / 1'000'000);
    std::int64_t fraction = rest % 1'000'000;
    int decimals = 6;
    while (decimals > style.decimals && fraction % 10 == 0) fraction /= 10, --decimals;
    if (decimals > 0) text += fmt::format(".{:0{}}", fraction, decimals);
  }
  if (!style.twelve_hours) return text;
  if (style.blank_before_half) text += ' ';
  return text + (style.lower_half ? (hour < 12 ? "am" : "pm") : (hour < 12 ? "AM" : "PM"));
}

}  // namespace

std::string written_zone(std::int16_t zone, const DateStyle& style) {
  if (style.zone == Zone::none) return {};
  const std::string blank = style.blank_before_zone ? " " : "";
  if (style.zone == Zone::letter && zone == 0) return blank + "Z";
  if (style.zone == Zone::utc && zone == 0) return blank + "UTC";
  const int minutes = std::abs(int{zone});
  const char sign = zone < 0 ? '-' : '+';
  if (style.zone == Zone::hours && minutes % 60 == 0)
    return fmt::format("{}{}{:02}", blank, sign, minutes / 60);
  return fmt::format("{}{}{:02}{}{:02}", blank, sign, minutes / 60,
                     style.zone == Zone::digits ? "" : ":", minutes % 60);
}

}  // namespace edict::dates

namespace edict {

std::string written_date(double microseconds, std::int16_t zone, const DateStyle& style) {
  using namespace dates;
  // The calendar ends somewhere; far outside of what is read a number of seconds says more.
  if (!(std::abs(microseconds) < 2.5e17)) return fmt::format("{}", microseconds / 1e6);
  const std::int64_t local = std::llround(microseconds) + zone * kMinute;
  std::int64_t days = local / kDay, clock = local % kDay;
  if (clock < 0) --days, clock += kDay;
  const Day day = day_at(days);
  if (!style.format.empty()) return written_in_format(day, clock, zone, style);
  if (style.period != DateStyle::Period::day) {
    if (auto period = written_period(days, clock, style)) return *period;
    return written_date(microseconds, zone, {});
  }
  std::string text = written_day(day, style);
  if (!style.clock && clock == 0) return text;
  if (style.between == ',')
    text += ", ";
  else if (style.between != '\0')
    text += style.between;
  return text + written_clock(clock, style) + written_zone(zone, style);
}

}  // namespace edict
