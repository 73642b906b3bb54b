#include "data/time/time_axis.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "base/json/json.h"
#include "data/dataset.h"
#include "data/time/unix_time.h"

namespace edict {
namespace {

constexpr double kSecond = 1e6;  // in microseconds

struct UnitName {
  TimeUnit unit;
  double seconds;
  std::string_view name, long_name;
};
constexpr UnitName kUnits[] = {{TimeUnit::none, 0, "none", ""},
                               {TimeUnit::second, 1, "s", "seconds"},
                               {TimeUnit::minute, 60, "min", "minutes"},
                               {TimeUnit::hour, 3600, "h", "hours"},
                               {TimeUnit::day, 86400, "d", "days"}};

constexpr std::string_view kKinds[] = {
    "number", "date", "unix seconds", "unix milliseconds", "unix microseconds", "unix nanoseconds"};
constexpr std::string_view kKindsInWords[] = {"numbers",
                                              "dates",
                                              "Unix time in seconds",
                                              "Unix time in milliseconds",
                                              "Unix time in microseconds",
                                              "Unix time in nanoseconds to the microsecond"};

const UnitName& entry_of(TimeUnit unit) { return kUnits[static_cast<std::size_t>(unit)]; }

// What adding and taking away an origin left in the last digits is not written.
std::string written_number(double value) {
  return fmt::format("{}", std::strtod(fmt::format("{:.15g}", value).c_str(), nullptr));
}

// Micro- and nanoseconds have more digits than that, and are whole.
std::string written_unix_time(TimeKind kind, double raw) {
  constexpr double kWhole = 9e15;  // up to here a double holds every microsecond
  const double in_raw = unix_per_second(kind) / kSecond;
  if (in_raw < 1 || std::abs(raw) > kWhole) return written_number(unix_from_raw(kind, raw));
  return fmt::format("{}", std::llround(raw) * std::llround(in_raw));
}

bool has_slashes(const DateStyle& style) {
  return style.order != DateStyle::Order::year_first && style.separator != '.' &&
         !style.named_month && style.format.empty();
}

// As the dates of the data are written, or in a way that says what it means.
std::optional<ParsedDate> read_date(const TimeAxis& axis, std::string_view text) {
  const bool dates = axis.kind == TimeKind::date;
  if (dates)
    if (auto date = parse_date(text, &axis.style)) return date;
  auto date = parse_date(text);
  if (!date && has_open_order(text))
    throw Error(fmt::format(
        "{}: may have the day first or the month; write the year first, as 2024-03-01", text));
  // 12/31/2024 has one meaning, but 01/02/2024 beside it would be read with the day first.
  if (date && dates && has_slashes(date->style) && has_slashes(axis.style) &&
      date->style.order != axis.style.order) {
    DateStyle year_first;
    year_first.clock = date->style.clock;
    throw Error(
        fmt::format("{}: the dates of the data have the {} first; write it so, or as {}", text,
                    axis.style.order == DateStyle::Order::day_first ? "day" : "month",
                    written_date(date->microseconds + 60 * kSecond * date->zone, 0, year_first)));
  }
  return date;
}

std::int16_t zone_at(const TimeAxis& axis, std::size_t series, double raw) {
  // The last change of the series that is not later; before its first change, that one.
  const auto of_series = std::partition_point(axis.zones.begin(), axis.zones.end(),
                                              [&](const auto& c) { return c.series < series; });
  if (of_series == axis.zones.end() || of_series->series != series) return axis.zone;
  std::int16_t zone = of_series->zone;
  for (auto change = of_series;
       change != axis.zones.end() && change->series == series && change->from <= raw; ++change)
    zone = change->zone;
  return zone;
}

}  // namespace

double seconds_in(TimeUnit unit) { return entry_of(unit).seconds; }
std::string_view name_of(TimeUnit unit) { return entry_of(unit).name; }
std::string_view long_name_of(TimeUnit unit) { return entry_of(unit).long_name; }

TimeUnit time_unit_from_name(std::string_view name) {
  for (const UnitName& entry : kUnits)
    if (name == entry.name) return entry.unit;
  throw Error(fmt::format("there is no time unit '{}'; give s, min, h, d or none", name));
}

double TimeAxis::to_raw(std::size_t series, double time) const {
  return origin_of(series) + time * raw_unit();
}

double TimeAxis::from_raw(std::size_t series, double raw) const {
  return (raw - origin_of(series)) / raw_unit();
}

TimeAxis TimeAxis::rules() const {
  TimeAxis result = *this;
  result.origin.clear();
  result.zones.clear();
  result.file_unit = TimeUnit::none;
  return result;
}

TimeAxis TimeAxis::subset(std::span<const std::size_t> series) const {
  TimeAxis result = rules();
  result.file_unit = file_unit;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!origin.empty()) result.origin.push_back(origin[series[i]]);
    for (const ZoneChange& change : zones)
      if (change.series == series[i]) result.zones.push_back({i, change.from, change.zone});
  }
  return result;
}

std::string written_time(const Dataset& data, std::size_t series, double time) {
  const TimeAxis& axis = data.time_axis;
  const double origin = axis.origin_of(series);
  // A series without events has no first one to count from.
  if (!std::isfinite(origin)) return fmt::format("{}", time);
  if (axis.kind == TimeKind::number)
    return origin == 0 && axis.raw_unit() == 1 ? fmt::format("{}", time)
                                               : written_number(axis.to_raw(series, time));
  const double raw = std::round(axis.to_raw(series, time));
  return axis.kind == TimeKind::date ? written_date(raw, zone_at(axis, series, raw), axis.style)
                                     : written_unix_time(axis.kind, raw);
}

double unix_per_second(TimeKind kind) {
  switch (kind) {
    case TimeKind::unix_seconds:
      return 1;
    case TimeKind::unix_milliseconds:
      return 1e3;
    case TimeKind::unix_microseconds:
      return 1e6;
    case TimeKind::unix_nanoseconds:
      return 1e9;
    default:
      return 0;
  }
}

double raw_from_unix(TimeKind kind, double number) {
  const double per_second = unix_per_second(kind);
  return std::round(per_second > kSecond ? number / (per_second / kSecond)
                                         : number * (kSecond / per_second));
}

double unix_from_raw(TimeKind kind, double raw) {
  const double per_second = unix_per_second(kind);
  return per_second > kSecond ? raw * (per_second / kSecond) : raw / (kSecond / per_second);
}

bool is_unix_time(const TimeAxis& axis, double number) {
  const double second = unix_per_second(axis.kind);
  return number >= 3.15e8 * second && number < 4.1e9 * second;
}

bool is_date_of(const TimeAxis& axis, std::string_view text) {
  return (axis.kind == TimeKind::date && parse_date(text, &axis.style)) || parse_date(text) ||
         has_open_order(text);
}

double read_time(const Dataset& data, std::size_t series, std::string_view text) {
  const TimeAxis& axis = data.time_axis;
  if (is_date_of(axis, text) && !axis.is_calendar())
    throw Error(
        fmt::format("{}: the times of the data are numbers; give a number on their scale", text));
  if (const auto date = read_date(axis, text)) {
    double raw = date->microseconds;
    // Without a zone it is meant as the data are written.
    if (date->style.zone == DateStyle::Zone::none && axis.style.zone != DateStyle::Zone::none)
      raw -= 60 * kSecond * zone_at(axis, series, raw - 60 * kSecond * axis.zone);
    if (!std::isfinite(axis.origin_of(series))) return std::numeric_limits<double>::quiet_NaN();
    return axis.from_raw(series, raw);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    throw Error(
        fmt::format("{}: is neither a number nor a date; write 1.5 or 2024-03-01 12:30", text));
  if (!is_unix_time(axis, value)) return value;
  if (!std::isfinite(axis.origin_of(series))) return std::numeric_limits<double>::quiet_NaN();
  return axis.from_raw(series, raw_from_unix(axis.kind, value));
}

std::string time_scale(const Dataset& data, std::size_t series) {
  const TimeAxis& axis = data.time_axis;
  std::string text(long_name_of(axis.unit));
  const double origin = axis.origin_of(series);
  if (!std::isfinite(origin) || (!axis.is_calendar() && origin == 0)) return text;
  return fmt::format("{}{}since {}", text, text.empty() ? "" : " ", written_time(data, series, 0));
}

std::string described(const TimeAxis& axis) {
  std::string text(kKindsInWords[static_cast<std::size_t>(axis.kind)]);
  if (axis.unit != TimeUnit::none) text += fmt::format(", in {}", long_name_of(axis.unit));
  if (axis.from_first) return text + " from each series' first event";
  if (axis.kind == TimeKind::number)
    return axis.epoch == 0 ? text : text + fmt::format(" from {}", axis.epoch);
  return text + " from " + written_date(axis.epoch, axis.zone, axis.style);
}

nlohmann::json to_json(const TimeAxis& axis) {
  return {{"kind", kKinds[static_cast<std::size_t>(axis.kind)]},
          {"unit", name_of(axis.unit)},
          {"from_first", axis.from_first},
          {"epoch", axis.epoch},
          {"zone", axis.zone},
          {"style", to_json(axis.style)}};
}

TimeAxis time_axis_from_json(const nlohmann::json& json) {
  const auto refuse = [] { return Error("its time axis is malformed"); };
  TimeAxis axis;
  const auto kind =
      std::find(std::begin(kKinds), std::end(kKinds), json.at("kind").get<std::string>());
  if (kind == std::end(kKinds)) throw refuse();
  axis.kind = static_cast<TimeKind>(kind - std::begin(kKinds));
  axis.unit = time_unit_from_name(json.at("unit").get<std::string>());
  axis.from_first = json.at("from_first").get<bool>();
  axis.epoch = json.at("epoch").get<double>();
  const nlohmann::json& zone = json.at("zone");
  if (!zone.is_number_integer() || zone < -1200 || zone > 1200) throw refuse();
  axis.zone = zone.get<std::int16_t>();
  axis.style = date_style_from_json(json.at("style"));
  if (!std::isfinite(axis.epoch) || (axis.is_calendar() && axis.unit == TimeUnit::none))
    throw refuse();
  return axis;
}

}  // namespace edict
