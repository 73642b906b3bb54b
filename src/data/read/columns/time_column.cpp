#include "data/read/columns/time_column.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text/utf8.h"
#include "data/read/csv/csv_names.h"
#include "data/time/unix_time.h"

namespace edict {
namespace {

using Order = DateStyle::Order;

template <class Is>
bool all(std::span<const std::string> cells, Is is) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), is);
}

DateStyle style_in(Order order) {
  DateStyle style;
  style.order = order;
  return style;
}

// Whether the text names day and month by numbers of which nothing says which is which.
bool has_two_orders(std::string_view text) {
  const DateStyle day_first = style_in(Order::day_first),
                  month_first = style_in(Order::month_first);
  const auto day = parse_date(text, &day_first), month = parse_date(text, &month_first);
  return day && month && (day->style.order != month->style.order);
}

// Seconds since 1970 or parts of them, between 1980 and 2100: numbers that stand for nothing else.
std::optional<TimeKind> unix_time(std::span<const std::string> cells) {
  const auto within = [&](double unit) {
    return all(cells, [&](const std::string& cell) {
      const auto number = number_with_comma(cell);
      return number && *number >= 3.15e8 * unit && *number < 4.1e9 * unit;
    });
  };
  for (const TimeKind kind : {TimeKind::unix_seconds, TimeKind::unix_milliseconds,
                              TimeKind::unix_microseconds, TimeKind::unix_nanoseconds})
    if (within(unix_per_second(kind))) return kind;
  return std::nullopt;
}

// 20240301 and the like, of which nobody counts by chance.
bool are_digits_of_dates(std::span<const std::string> cells) {
  return all(cells, [](const std::string& cell) {
    return parse_digits_as_date(cell) && cell >= "1900" && cell < "2101";
  });
}

bool is_midnight(const std::string& cell) {
  constexpr double kMidnights = 86400e6;  // apart
  DateStyle day_first;
  day_first.order = Order::day_first;
  auto date = parse_date(cell);
  if (!date) date = parse_date(cell, &day_first);
  return date && date->style.zone == DateStyle::Zone::none &&
         std::fmod(date->microseconds, kMidnights) == 0;
}

// 01.2020 and 202001: months in digits, which is a number where anything else stands beside them.
std::optional<DateStyle> style_of_digit_months(std::span<const std::string> cells) {
  std::optional<DateStyle> style;
  const bool all_months = all(cells, [&](const std::string& cell) {
    const auto own = cell >= "01" && cell < "2101" ? style_of_digit_month(cell) : std::nullopt;
    if (!own || (style && style->separator != own->separator)) return false;
    const std::string year =
        own->order == Order::year_first ? cell.substr(0, 4) : cell.substr(cell.size() - 4);
    style = style ? fuller(*style, *own) : *own;
    return year >= "1900" && year < "2101";
  });
  return all_months && cells.size() > 1 ? style : std::nullopt;
}

// 3/4/2024: a number above 12 anywhere in the column decides.
DateStyle style_of_slashes(const TimeCells& cells) {
  std::optional<Order> order;
  cells.find([&](std::string_view cell) {
    order = only_order(cell);
    return order.has_value();
  });
  if (order) return style_in(*order);
  const auto open = cells.find([](std::string_view cell) { return has_open_order(cell); });
  if (!open) return style_in(Order::day_first);  // all are such as 3/3/2024
  const auto format_in = [&](Order each) {
    const DateStyle style = style_in(each);
    return format_of(parse_date(*open, &style)->style);
  };
  throw Error(fmt::format(
      "'{}' may have the day first or the month, and no other time decides; give {} or {}",
      shortened(*open, 40), option("time_format", format_in(Order::day_first)),
      option("time_format", format_in(Order::month_first))));
}

}  // namespace

std::optional<double> number_with_comma(std::string text) {
  if (text.find('.') == std::string::npos) {
    const std::size_t comma = text.find(',');
    if (comma != std::string::npos && text.find(',', comma + 1) == std::string::npos)
      text[comma] = '.';
  }
  return finite_number(text);
}

bool all_dates(std::span<const std::string> cells) {
  return all(cells, [](const std::string& cell) {
    return parse_date(cell).has_value() || has_open_order(cell);
  });
}

bool all_days(std::span<const std::string> cells) {
  return (all_dates(cells) || are_digits_of_dates(cells)) &&
         all(cells, [](const std::string& cell) {
           const auto digits = parse_digits_as_date(cell);
           if (cell.find(':') != std::string::npos) return is_midnight(cell);
           return !(digits && digits->style.clock);
         });
}

bool all_periods(std::span<const std::string> cells) {
  return all(cells, [](const std::string& cell) {
    const auto date = parse_date(cell);
    return date && date->style.period != DateStyle::Period::day;
  });
}

bool all_clocks(std::span<const std::string> cells) {
  return all(cells, [](const std::string& cell) {
    DateStyle style;
    return parse_clock(cell, style).has_value();
  });
}

bool all_numbers(std::span<const std::string> cells) {
  return all(cells, [](const std::string& cell) { return number_with_comma(cell).has_value(); });
}

bool all_running(std::span<const std::string> cells) {
  std::optional<double> before;
  return all(cells, [&](const std::string& cell) {
    const auto number = finite_number(cell);
    const bool next = number && (before ? *number == *before + 1 : *number == 0 || *number == 1);
    before = number;
    return next;
  });
}

TimeForm time_form(const TimeCells& cells, const ReadOptions& options) {
  if (!options.time_format.empty()) {
    check_time_format(options.time_format);
    DateStyle style;
    style.format = options.time_format;
    return {TimeKind::date, style};
  }
  std::string first = cells.first.empty() ? std::string() : cells.first.front();
  if (first.empty()) first = cells.find([](std::string_view) { return true; }).value_or("");
  const TimeAxis* known = options.like ? &options.like->time_axis : nullptr;
  const bool known_calendar = known && known->is_calendar();
  if (known && known->kind == TimeKind::date && !reads_back(known->style)) {
    DateStyle style = known->style;
    if (cells.beside_clocks && style.format.ends_with(kClockFormat))
      style.format.resize(style.format.size() - kClockFormat.size());
    if (parse_date(first, &style)) return {TimeKind::date, style};
  }
  if (has_two_orders(first) || only_order(first)) return {TimeKind::date, style_of_slashes(cells)};
  if (parse_date(first)) return {TimeKind::date, std::nullopt};
  if (first.empty() && known_calendar) return {known->kind, std::nullopt};
  if (options.time_unit == "none" || (known && !known_calendar)) return {};
  const std::span<const std::string> sample =
      cells.first.empty() ? std::span(&first, 1) : cells.first;
  if (const auto months = style_of_digit_months(sample)) return {TimeKind::date, months};
  if (are_digits_of_dates(sample)) {
    DateStyle style;
    style.separator = '\0';
    return {TimeKind::date, style};
  }
  return {unix_time(sample).value_or(TimeKind::number), std::nullopt};
}

}  // namespace edict
