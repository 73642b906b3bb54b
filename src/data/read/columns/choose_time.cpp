#include "data/read/columns/choose_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text/utf8.h"
#include "data/read/csv/csv_names.h"
#include "data/time/date_text.h"

namespace edict {
namespace {

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

// A year and something else, in words that are not read: KW 5/2020, 2020 spring.
bool holds_year(const std::string& text) {
  for (std::size_t at = 0; at + 4 <= text.size(); ++at) {
    const auto digit = [&](std::size_t i) {
      return i < text.size() && text[i] >= '0' && text[i] <= '9';
    };
    const std::string_view year = std::string_view(text).substr(at, 4);
    if ((year.starts_with("19") || year.starts_with("20")) && digit(at + 2) && digit(at + 3) &&
        !digit(at + 4) && (at == 0 || !digit(at - 1)))
      return text.size() > 4;
  }
  return false;
}

// Texts that were meant as times and are none that can be read.
bool looks_like_time(const std::string& name, std::span<const std::string> cells) {
  if (cells.empty() || all_numbers(cells)) return false;
  if (!std::ranges::all_of(cells, has_digit)) return false;
  return names_time(name) || std::ranges::all_of(cells, holds_year);
}

void refuse_unread_times(const ColumnChoice& choice) {
  for (std::size_t c = 0; c < choice.size(); ++c) {
    const auto cells = choice.sample[c];
    if (!choice.free(c) || !looks_like_time(choice.name(c), cells)) continue;
    const auto unread = std::ranges::find_if(
        cells, [](const std::string& cell) { return !parse_date(cell) && !has_open_order(cell); });
    if (unread == cells.end()) continue;
    choice.fail(
        c,
        fmt::format("it looks like the time, and '{}' is not a date that can be read",
                    shortened(*unread, 40)),
        fmt::format("write 2024-03-01, or name the column of times with {}; {} where it is no time",
                    option("time"), option("ignore", choice.name(c))));
  }
}

// A column of clocks that no dates stand beside is likelier the time than the first of numbers.
void refuse_clocks_alone(const ColumnChoice& choice) {
  const auto clock = choice.find_by_cells([](auto cells) { return all_clocks(cells); });
  if (clock)
    choice.fail(
        *clock, "it holds times of day and no column their dates",
        "give dates, or numbers that count from a start, or name the column of times with " +
            option("time"));
}

// Numbers that are no Unix time and no dates of digits.
bool counts_like_hours(const ColumnChoice& choice, std::size_t column) {
  constexpr double kLargest = 1e7;
  const auto cells = choice.sample[column];
  return !cells.empty() && std::ranges::all_of(cells, [](const std::string& cell) {
    const auto number = number_with_comma(cell);
    return number && std::abs(*number) < kLargest;
  });
}

// That of a column, with a look at all of it where the first rows may be hours or 0930.
std::optional<ClockForm> clock_form_of(const ColumnChoice& choice, std::size_t column,
                                       ClockName name) {
  const auto form = clock_form(choice.sample[column], name);
  if (form != ClockForm::hours) return form;
  const auto beyond = choice.sample.find(column, [](std::string_view cell) {
    const auto number = finite_number(cell);
    return number && *number > 24;
  });
  if (!beyond) return form;
  std::vector<std::string> cells(choice.sample[column].begin(), choice.sample[column].end());
  cells.push_back(*beyond);
  return clock_form(cells, name);
}

void take_clock(ColumnChoice& choice, std::size_t column, ClockForm form) {
  choice.take(column, ColumnKind::clock);
  choice.layout.clock = form;
}

[[noreturn]] void refuse_clock(const ColumnChoice& choice, std::size_t column) {
  const auto cells = choice.sample[column];
  choice.fail(column,
              fmt::format("{} is not a time of day that can be read",
                          cells.empty() ? std::string("an empty cell")
                                        : fmt::format("'{}'", shortened(cells.front(), 40))),
              "write 12:30, or leave it out with " + option("ignore", choice.name(column)));
}

// The clock beside a column of days, by its name or as the only one of its kind.
void choose_clock_beside(ColumnChoice& choice, std::size_t days) {
  for (std::size_t c = 0; c < choice.size(); ++c) {
    if (!choice.free(c) || c == days || !has_usual_name(choice.name(c), ColumnRole::clock) ||
        choice.sample[c].empty())
      continue;
    const bool sure = names_clock_surely(choice.name(c)) || names_start(choice.name(c));
    if (const auto form = clock_form_of(choice, c, sure ? ClockName::surely : ClockName::hours))
      return take_clock(choice, c, *form);
    if (names_clock_surely(choice.name(c)) && !all_dates(choice.sample[c])) refuse_clock(choice, c);
  }
  std::vector<std::size_t> clocks;
  for (std::size_t c = 0; c < choice.size(); ++c)
    if (choice.free(c) && c != days && !choice.name(c).starts_with(kStaticPrefix) &&
        !names_duration(choice.name(c)) && clock_form(choice.sample[c], ClockName::silent))
      clocks.push_back(c);
  if (clocks.empty()) return;
  std::size_t chosen = clocks.front();
  if (clocks.size() > 1) {
    const auto start =
        std::ranges::find_if(clocks, [&](std::size_t c) { return names_start(choice.name(c)); });
    if (start == clocks.end())
      choice.fail(days,
                  fmt::format("several columns hold times of day beside it: '{}' and '{}'",
                              choice.name(clocks[0]), choice.name(clocks[1])),
                  "say which is its time, as with " +
                      option("time", choice.name(days) + "," + choice.name(clocks[0])));
    chosen = *start;
  }
  take_clock(choice, chosen, *clock_form(choice.sample[chosen], ClockName::silent));
}

// The dates beside a column of clocks that is called as a time is. Nothing where it may be days
// itself, as 01.03.24.
std::optional<std::size_t> dates_beside(const ColumnChoice& choice, std::size_t clock) {
  const bool maybe_days = all_days(choice.sample[clock]);
  const auto date = choice.find_by_cells(
      [&](auto cells) { return all_days(cells) && !(maybe_days && all_clocks(cells)); });
  if (date && !names_birth(choice.name(*date)) &&
      (!maybe_days || has_usual_name(choice.name(clock), ColumnRole::clock)))
    return date;
  if (maybe_days) return std::nullopt;
  const auto stamps = choice.find_by_cells([&](auto cells) { return all_dates(cells); });
  if (stamps && !names_birth(choice.name(*stamps))) return stamps;
  choice.fail(clock, "it holds times of day and no column their dates",
              "give dates, or numbers that count from a start");
}

// The days beside a column of numbers that is called as a time of day is, and by name of dates.
bool choose_days_beside(ColumnChoice& choice, std::size_t& time) {
  if (!all_numbers(choice.sample[time]) || !names_clock_surely(choice.name(time))) return false;
  for (std::size_t c = 0; c < choice.size(); ++c) {
    if (!choice.free(c) || !has_usual_name(choice.name(c), ColumnRole::time) ||
        !all_days(choice.sample[c]))
      continue;
    const auto form = clock_form_of(choice, time, ClockName::surely);
    if (!form) continue;
    take_clock(choice, time, *form);
    time = c;
    return true;
  }
  return false;
}

// Numbers of another unit than the model's, as the columns are called.
void choose_time_unit(ColumnChoice& choice, std::size_t column) {
  const ReadOptions& options = choice.options;
  const KnownReading& like = *options.like;
  const std::string& name = choice.name(column);
  if (name == like.reading.time && options.time_unit.empty()) return;
  const TimeUnit here =
      options.time_unit.empty() ? unit_in_name(name) : time_unit_from_name(options.time_unit);
  const TimeUnit there =
      like.time_axis.unit != TimeUnit::none ? like.time_axis.unit : unit_in_name(like.reading.time);
  if (here == TimeUnit::none || here == there) return;
  if (there != TimeUnit::none)
    choice.layout.time_unit = here;
  else if (options.time.empty() && options.time_unit.empty())
    choice.fail(
        column,
        fmt::format("the model's times are called '{}', which names no unit", like.reading.time),
        fmt::format("give {} if both count alike", option("time", name)));
}

}  // namespace

std::optional<std::size_t> choose_named_time(ColumnChoice& choice) {
  const std::string& given = choice.options.time;
  if (!given.empty()) {
    const std::size_t comma = given.find(',');
    if (comma == std::string::npos || choice.find_in_any_case(given))
      return choice.demand(given, "time");
    const std::size_t clock = choice.demand(given.substr(comma + 1), "time");
    const std::size_t date = choice.demand(given.substr(0, comma), "time");
    const auto form = clock_form_of(choice, clock, ClockName::surely);
    if (!form) refuse_clock(choice, clock);
    if (all_dates(choice.sample[date]) && !all_days(choice.sample[date]))
      choice.fail(date, "it holds times of day already",
                  "name it alone: " + option("time", choice.name(date)));
    take_clock(choice, clock, *form);
    return date;
  }
  if (const Reading* known = choice.known(); known && !known->time.empty())
    if (const auto found = choice.find_free(known->time)) {
      const auto clock = known->clock.empty() ? std::nullopt : choice.find_free(known->clock);
      const auto form = clock ? clock_form_of(choice, *clock, ClockName::surely) : std::nullopt;
      if (clock && !form && !choice.sample[*clock].empty()) refuse_clock(choice, *clock);
      if (clock) take_clock(choice, *clock, form.value_or(ClockForm::text));
      return found;
    }
  if (const auto found = choice.find_free("time")) return found;
  return choice.find_usual(ColumnRole::time);
}

std::optional<std::size_t> choose_time_by_dates(const ColumnChoice& choice) {
  const auto with_clock =
      choice.find_by_cells([](auto cells) { return all_dates(cells) && !all_days(cells); });
  if (with_clock) return with_clock;
  std::optional<std::size_t> period;
  for (std::size_t c = 0; c < choice.size(); ++c) {
    if (!choice.free(c) || names_birth(choice.name(c)) || !all_dates(choice.sample[c])) continue;
    if (!all_periods(choice.sample[c])) return c;
    if (!period) period = c;
  }
  if (period) return period;
  const auto called = choice.find_usual(ColumnRole::period);
  return called && all_numbers(choice.sample[*called]) ? called : std::nullopt;
}

std::size_t choose_time_by_numbers(const ColumnChoice& choice) {
  refuse_unread_times(choice);
  refuse_clocks_alone(choice);
  for (std::size_t c = 0; c < choice.size(); ++c)
    if (choice.free(c) && !choice.name(c).empty() && !choice.name(c).starts_with(kStaticPrefix) &&
        all_numbers(choice.sample[c]))
      return c;
  ColumnChoice::fail(
      fmt::format("column 'time': it is missing; name it with {}, or add it to the header (found "
                  "{})",
                  option("time"), quoted_list(choice.layout.names)));
}

void refuse_days_as_columns(const ColumnChoice& choice) {
  const auto days = std::ranges::count_if(
      choice.layout.names, [](const std::string& name) { return parse_date(name).has_value(); });
  if (days > 1)
    ColumnChoice::fail(fmt::format("{} columns are called by dates", days),
                       "turn the table, so that each row is one moment");
}

void refuse_divided_date(const ColumnChoice& choice, std::optional<std::size_t> time) {
  if (!choice.options.time.empty() || choice.options.like) return;
  std::vector<std::string> parts;
  bool year = false;
  for (const char* part : {"year", "month", "week", "day", "hour", "jahr", "monat", "woche", "tag",
                           "stunde", "quarter", "quartal"})
    for (std::size_t c = 0; c < choice.size(); ++c)
      if (squeezed(choice.name(c)) == part && all_numbers(choice.sample[c])) {
        parts.push_back(choice.name(c));
        year |= part == std::string_view("year") || part == std::string_view("jahr");
      }
  if (parts.size() < (year ? 2 : 3)) return;
  // Beside times of their own they say the same again; a column 't' of numbers may be a
  // temperature.
  if (time && !contains(parts, choice.name(*time)) && !counts_like_hours(choice, *time)) return;
  ColumnChoice::fail(
      fmt::format("the date is divided among {}", quoted_list(parts)),
      "join them into one column, as 2024-03 or 2024-03-01 12:00, or name the times with " +
          option("time"));
}

void choose_clock(ColumnChoice& choice, std::size_t& time) {
  if (!choice.options.time.empty() || !choice.layout.name_of(ColumnKind::clock).empty()) return;
  if (choose_days_beside(choice, time)) return;
  const auto form = clock_form(choice.sample[time], ClockName::silent);
  if (form) {
    const auto days = choice.find_by_cells([](auto cells) { return all_days(cells); });
    if (form == ClockForm::stamp && !days) return;  // times that are counted from such a day
    const auto date = dates_beside(choice, time);
    if (!date) return;
    if (all_days(choice.sample[*date])) take_clock(choice, time, *form);
    time = *date;
  } else if (all_days(choice.sample[time])) {
    choose_clock_beside(choice, time);
  }
}

void choose_time_form(ColumnChoice& choice, std::size_t time) {
  ColumnLayout& layout = choice.layout;
  const std::string clock = layout.name_of(ColumnKind::clock);
  const TimeCells cells{choice.sample[time],
                        [&](const auto& is) { return choice.sample.find(time, is); },
                        !clock.empty()};
  try {
    layout.time = time_form(cells, choice.options);
  } catch (const Error& error) {
    choice.fail(time, error.message(option));
  }
  if (layout.time.kind == TimeKind::number && choice.options.like) choose_time_unit(choice, time);
  if (layout.time.kind != TimeKind::date && !clock.empty())
    choice.fail(time,
                fmt::format("it stands beside times of day in '{}' and holds no dates", clock),
                "write 2024-03-01, or leave the other out with " + option("ignore", clock));
}

}  // namespace edict
