#include "data/read/count_times.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/read/cells/text_values.h"
#include "data/read/columns/column_names.h"
#include "data/read/csv/csv_names.h"

namespace edict {
namespace {

std::vector<double> spans_of(const Dataset& data) {
  std::vector<double> spans;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data.events(i) > 1)
      spans.push_back((data.times[data.first_event[i + 1] - 1] - data.times[data.first_event[i]]) /
                      1e6);
  return spans;
}

void choose_unit(Dataset& data, const ReadOptions& options) {
  TimeAxis& axis = data.time_axis;
  if (axis.file_unit != TimeUnit::none) {
    const KnownReading& like = *options.like;
    axis.unit = like.time_axis.unit != TimeUnit::none ? like.time_axis.unit
                                                      : unit_in_name(like.reading.time);
  } else if (!options.time_unit.empty()) {
    axis.unit = time_unit_from_name(options.time_unit);
    if (axis.is_calendar() && axis.unit == TimeUnit::none)
      throw Error(option("time_unit", "none") +
                  ": the times are dates; give s, min, h or d to count them in");
  } else if (options.like) {
    axis.unit = options.like->time_axis.unit;
  } else if (axis.is_calendar()) {
    axis.unit = usual_unit(spans_of(data));
  }
}

void choose_origin(TimeAxis& axis, const ReadOptions& options) {
  const std::string& origin = options.origin;
  if (origin.empty()) {
    axis.from_first = options.like ? options.like->time_axis.from_first : axis.is_calendar();
    // Of numbers it is in the model's unit, and becomes one in the file's.
    axis.epoch = options.like
                     ? options.like->time_axis.epoch * (axis.is_calendar() ? 1.0 : axis.raw_unit())
                     : 0.0;
  } else if (origin == "first") {
    axis.from_first = true;
  } else if (const auto date = parse_date(origin)) {
    if (!axis.is_calendar())
      throw Error(fmt::format("{}: the times of the data are numbers; give a number, or first",
                              option("origin", origin)));
    axis.epoch = date->microseconds;
    // Without a zone it is meant as the data are written.
    if (date->style.zone == DateStyle::Zone::none && axis.kind == TimeKind::date)
      axis.epoch -= 60e6 * axis.zone;
  } else if (const auto number = finite_number(origin); number && !axis.is_calendar()) {
    axis.epoch = *number;
  } else {
    throw Error(fmt::format("{}: give first, or {}", option("origin", origin),
                            axis.is_calendar() ? "a date as 2024-03-01" : "a number"));
  }
}

}  // namespace

TimeUnit usual_unit(std::vector<double> spans) {
  if (spans.empty()) return TimeUnit::hour;
  const auto middle = spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2);
  std::nth_element(spans.begin(), middle, spans.end());
  for (const TimeUnit unit : {TimeUnit::day, TimeUnit::hour, TimeUnit::minute})
    if (*middle >= 10 * seconds_in(unit)) return unit;
  return TimeUnit::second;
}

void note_zones(Dataset& data, const std::vector<std::int16_t>& zones) {
  if (zones.empty()) return;
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e)
      if (e == data.first_event[i] || zones[e] != zones[e - 1])
        data.time_axis.zones.push_back({i, data.times[e], zones[e]});
}

void count_times(Dataset& data, const ReadOptions& options) {
  TimeAxis& axis = data.time_axis;
  if (options.like && options.like->time_axis.is_calendar() != axis.is_calendar())
    throw Error(
        fmt::format("the times are {}, and the model was trained on {}; give data of that kind",
                    axis.is_calendar() ? "dates" : "numbers", described(options.like->time_axis)));
  choose_unit(data, options);
  choose_origin(axis, options);
  if (axis.from_first)
    for (std::size_t i = 0; i < data.size(); ++i)
      axis.origin.push_back(data.events(i) > 0 ? data.times[data.first_event[i]] : kMissing);
  if (!axis.is_calendar() && !axis.from_first && axis.epoch == 0 && axis.raw_unit() == 1) return;
  std::vector<double>& times = data.times.edit();
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e) {
      times[e] = axis.from_raw(i, times[e]);
      if (!std::isfinite(times[e]) || (e > data.first_event[i] && !(times[e - 1] < times[e])))
        throw Error(fmt::format(
            "series {}: two of its times are the same when counted from the origin; choose another "
            "one",
            data.ids[i]));
    }
}

}  // namespace edict
