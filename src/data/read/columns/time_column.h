// How the times of a table are written, from its first cells and, where they leave it open, from
// all of them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/read/read_options.h"
#include "data/time/time_axis.h"

namespace edict {

bool all_dates(std::span<const std::string> cells);
bool all_days(std::span<const std::string> cells);     // dates without a time of day, or midnight
bool all_periods(std::span<const std::string> cells);  // dates without a day: 2020-01, 2020Q1
bool all_clocks(std::span<const std::string> cells);   // times of day without a date
bool all_numbers(std::span<const std::string> cells);
// Whole numbers that count up by one.
bool all_running(std::span<const std::string> cells);
// A number that may have a decimal comma.
std::optional<double> number_with_comma(std::string text);

// What a format of dates goes on with where a column of clocks stands beside them.
inline constexpr std::string_view kClockFormat = " %H:%M:%S";

struct TimeForm {
  TimeKind kind = TimeKind::number;
  std::optional<DateStyle> style;  // that dates have to be read in, where they may differ
};

struct TimeCells {
  std::span<const std::string> first;  // of the first rows
  // The first cell of the whole column that is so, if any.
  std::function<std::optional<std::string>(const std::function<bool(std::string_view)>&)> find;
  bool beside_clocks = false;
};

// Throws Error, which says what is open, without the place.
TimeForm time_form(const TimeCells& cells, const ReadOptions& options);

}  // namespace edict
