// A column of times of day that stands beside a column of dates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/time/date_text.h"

namespace edict {

enum class ClockForm : std::uint8_t {
  text,      // 12:30, 12:30:15, 1:30 PM, 18.00.00
  stamp,     // 1899-12-30 12:30, as spreadsheets export a time without a day
  hours,     // 12, 12.5
  hhmm,      // 1230, 930
  hhmmss,    // 123015
  seconds,   // since midnight
  fraction,  // 0.5 of a day
};

// How much the name of a column says of a time of day.
enum class ClockName : std::uint8_t {
  silent,
  hours,   // "hr" may be a heart rate as well
  surely,  // nothing else is called so
};

// The form that all cells have; of numbers only where the name says so, as any numbers may look
// like hours. Nothing where they are no times of day.
std::optional<ClockForm> clock_form(std::span<const std::string> cells, ClockName name);

// A cell in that form, in microseconds; what is found of its style is added.
std::optional<double> read_clock_cell(std::string_view cell, ClockForm form, DateStyle& style);

// " as HHMM": what is said of a form that is not plain.
std::string_view described(ClockForm form);

}  // namespace edict
