// What the times of a dataset were before they became numbers: how they were written, what they
// are counted in and from when.
//
// A file may give times as plain numbers, as dates or as Unix time. Models see numbers; people see
// what they wrote. The way there and back goes through here, for every command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/time/date_text.h"

namespace edict {

struct Dataset;

enum class TimeKind : std::uint8_t {
  number,             // in a unit that only the file's owner knows
  date,               // 2024-03-01 12:30 and the like
  unix_seconds,       // since 1970, as a number
  unix_milliseconds,  // the same in thousandths
  unix_microseconds,
  unix_nanoseconds,  // read to the microsecond
};

enum class TimeUnit : std::uint8_t { none, second, minute, hour, day };

double seconds_in(TimeUnit unit);                     // 0 for none
std::string_view name_of(TimeUnit unit);              // "s", "min", "h", "d", "none"
std::string_view long_name_of(TimeUnit unit);         // "hours"; empty for none
TimeUnit time_unit_from_name(std::string_view name);  // throws Error

// Times of a dataset are (raw − origin) / unit, where raw are the microseconds of a date or of Unix
// time, and the number itself for numbers (whose unit is 1, or that of the model in the file's).
struct TimeAxis {
  TimeKind kind = TimeKind::number;
  // Dates are counted in it; of numbers it is only the name.
  TimeUnit unit = TimeUnit::none;
  bool from_first = false;  // the first event of each series is 0
  double epoch = 0.0;       // else what is 0 in every series, raw
  DateStyle style;
  std::int16_t zone = 0;  // in which dates are written, minutes east of UTC

  // Of numbers: the unit that the file counts in, where it is not the model's.
  TimeUnit file_unit = TimeUnit::none;

  // What belongs to the series of one dataset, and not to a model.
  std::vector<double> origin;  // raw, one a series; empty: the epoch for all
  struct ZoneChange {
    std::size_t series;
    double from;  // raw
    std::int16_t zone;
  };
  std::vector<ZoneChange> zones;  // by series and time, where the zone is not the same throughout

  bool is_calendar() const { return kind != TimeKind::number; }
  double raw_unit() const {
    if (is_calendar()) return 1e6 * seconds_in(unit);
    return file_unit == TimeUnit::none ? 1.0 : seconds_in(unit) / seconds_in(file_unit);
  }
  double origin_of(std::size_t series) const { return origin.empty() ? epoch : origin[series]; }
  double to_raw(std::size_t series, double time) const;
  double from_raw(std::size_t series, double raw) const;

  // Without what belongs to series.
  TimeAxis rules() const;
  // For a dataset of these series.
  TimeAxis subset(std::span<const std::size_t> series) const;
};

// A time of a series of the dataset as the file would write it. The one way to write a time.
std::string written_time(const Dataset& data, std::size_t series, double time);

// Whether the text is a date where times are given for data with this axis: as its own dates are
// written, or in another way.
bool is_date_of(const TimeAxis& axis, std::string_view text);

// The reverse, for a time that a person gives: in the form of the data's times if it is a date,
// else a number on the dataset's own scale. 03/04/2024 is read where the data's dates are written
// so. Throws Error, which begins with the text.
double read_time(const Dataset& data, std::size_t series, std::string_view text);

// What the dataset's own times of the series are: "hours since 2024-03-01 12:30", for the axis of a
// chart. Empty for plain numbers.
std::string time_scale(const Dataset& data, std::size_t series);

// "dates, in hours from each series' first event".
std::string described(const TimeAxis& axis);

// Of the rules alone. from_json throws Error or nlohmann's exception where the text is not what
// to_json writes.
nlohmann::json to_json(const TimeAxis& axis);
TimeAxis time_axis_from_json(const nlohmann::json& json);

}  // namespace edict
