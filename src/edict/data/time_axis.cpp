#include "edict/data/time_axis.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "edict/core/error.h"
#include "edict/core/json.h"
#include "edict/data/dataset.h"
#include "edict/data/unix_time.h"

namespace edict {
namespace {

constexpr double kSecond = 1e6;  // in microseconds
constexpr std::int64_t kDay = 86'400'000'000;
constexpr int kFirstYear = 1685, kLastYear = 2255;

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

constexpr std::string_view kKinds[] = {"number", "date", "unix seconds", "unix milliseconds"};
constexpr std::string_view kKindsInWords[] = {"numbers", "dates", "Unix time in seconds",
                                              "Unix time in milliseconds"};

const UnitName& entry_of(TimeUnit unit) { return kUnits[static_cast<std::size_t>(unit)]; }

// Days from 1970-01-01 to a date, and back, by counting years from March: leap days come last then
// and months have a regular pattern of lengths.
constexpr std::int64_t days_until(int year, int month, int day) {
  const int march_year = month <= 2 ? year - 1 : year;
  const int era = march_year / 400;  // years here are positive
  const int of_era = march_year - era * 400;
  const int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
  return std::int64_t{era} * 146097 + days - 719468;
}

struct Day {
  int year, month, day;
};
constexpr Day day_at(std::int64_t days) {
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const auto of_era = static_cast<int>(shifted - era * 146097);
  const int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int of_year = of_era - (365 * year + year / 4 - year / 100);
  const int month = (5 * of_year + 2) / 153;
  const int day = of_year - (153 * month + 2) / 5 + 1;
  const int calendar = month < 10 ? month + 3 : month - 9;
  return {static_cast<int>(year + era * 400) + (calendar <= 2 ? 1 : 0), calendar, day};
}
static_assert(days_until(1970, 1, 1) == 0 && days_until(2000, 3, 1) == 11017);

constexpr int days_in(int year, int month) {
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

// Takes pieces off the front of a text; a piece that is not there is told, not thrown.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

  bool done() const { return p_ == end_; }
  char peek() const { return p_ == end_ ? '\0' : *p_; }
  bool take(char c) {
    if (peek() != c) return false;
    ++p_;
    return true;
  }
  // From `least` to `most` digits; −1 where there are fewer.
  int number(int least, int most) {
    int value = 0, count = 0;
    for (; count < most && p_ != end_ && static_cast<unsigned char>(*p_ - '0') < 10; ++count)
      value = 10 * value + (*p_++ - '0');
    return count >= least ? value : -1;
  }
  int digits_ahead() const {
    const char* p = p_;
    while (p != end_ && static_cast<unsigned char>(*p - '0') < 10) ++p;
    return static_cast<int>(p - p_);
  }

 private:
  const char* p_;
  const char* end_;
};

bool take_day(Scanner& text, Day& day, DateStyle& style) {
  style.day_first = text.digits_ahead() <= 2;
  if (style.day_first) {
    day.day = text.number(1, 2);
    style.separator = text.peek();
    if (style.separator != '.') return false;  // 3/4/2024 may be March or April
    if (!text.take('.')) return false;
    day.month = text.number(1, 2);
    if (!text.take('.')) return false;
    day.year = text.number(4, 4);
  } else {
    day.year = text.number(4, 4);
    style.separator = text.peek();
    if (style.separator != '-' && style.separator != '/' && style.separator != '.') return false;
    text.take(style.separator);
    day.month = text.number(1, 2);
    if (!text.take(style.separator)) return false;
    day.day = text.number(1, 2);
  }
  return day.year >= kFirstYear && day.year <= kLastYear && day.month >= 1 && day.month <= 12 &&
         day.day >= 1 && day.day <= days_in(day.year, day.month);
}

// Hours, minutes, seconds and decimals, in microseconds; −1 where it is none.
std::int64_t take_clock(Scanner& text, DateStyle& style) {
  const int hour = text.number(1, 2);
  if (hour < 0 || hour > 24 || !text.take(':')) return -1;
  const int minute = text.number(2, 2);
  if (minute < 0 || minute > 59) return -1;
  std::int64_t result = (std::int64_t{hour} * 60 + minute) * 60'000'000;
  if (text.take(':')) {
    style.seconds = true;
    const int second = text.number(2, 2);
    if (second < 0 || second > 60) return -1;  // 60: a leap second
    result += std::int64_t{second} * 1'000'000;
    if (text.peek() == '.' || text.peek() == ',') {
      text.take(text.peek());
      const int given = text.digits_ahead();
      if (given < 1 || given > 9) return -1;
      style.decimals = static_cast<std::uint8_t>(std::min(given, 6));
      std::int64_t fraction = text.number(1, 9);
      for (int digits = given; digits < 9; ++digits) fraction *= 10;
      result += (fraction + 500) / 1000;
    }
  }
  return result <= kDay ? result : -1;
}

bool take_zone(Scanner& text, std::int16_t& zone, DateStyle& style) {
  if (text.done()) return true;
  style.blank_before_zone = text.take(' ');
  if (text.take('Z') || text.take('z')) {
    style.zone = DateStyle::Zone::letter;
    return text.done();
  }
  if (text.take('U')) {
    style.zone = DateStyle::Zone::utc;
    return text.take('T') && text.take('C') && text.done();
  }
  const bool west = text.peek() == '-';
  if (!text.take('+') && !text.take('-')) return false;
  const int hours = text.number(2, 2);
  int minutes = 0;
  style.zone = DateStyle::Zone::hours;
  if (text.take(':')) {
    style.zone = DateStyle::Zone::colon;
    minutes = text.number(2, 2);
  } else if (!text.done()) {
    style.zone = DateStyle::Zone::digits;
    minutes = text.number(2, 2);
  }
  if (hours < 0 || hours > 18 || minutes < 0 || minutes > 59 || !text.done()) return false;
  const int offset = 60 * hours + minutes;
  zone = static_cast<std::int16_t>(west ? -offset : offset);
  return true;
}

std::string written_zone(std::int16_t zone, const DateStyle& style) {
  if (style.zone == DateStyle::Zone::none) return {};
  const std::string blank = style.blank_before_zone ? " " : "";
  if (style.zone == DateStyle::Zone::letter && zone == 0) return blank + "Z";
  if (style.zone == DateStyle::Zone::utc && zone == 0) return blank + "UTC";
  const int minutes = std::abs(int{zone});
  const char sign = zone < 0 ? '-' : '+';
  if (style.zone == DateStyle::Zone::hours && minutes % 60 == 0)
    return fmt::format("{}{}{:02}", blank, sign, minutes / 60);
  return fmt::format("{}{}{:02}{}{:02}", blank, sign, minutes / 60,
                     style.zone == DateStyle::Zone::digits ? "" : ":", minutes % 60);
}

// What adding and taking away an origin left in the last digits is not written.
std::string written_number(double value) {
  return fmt::format("{}", std::strtod(fmt::format("{:.15g}", value).c_str(), nullptr));
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

std::optional<ParsedDate> parse_date(std::string_view text) {
  ParsedDate result{0.0, 0, {}};
  Scanner scanner(text);
  Day day{};
  if (!take_day(scanner, day, result.style)) return std::nullopt;
  std::int64_t clock = 0;
  if (!scanner.done()) {
    result.style.clock = true;
    result.style.between = scanner.peek();
    if (!scanner.take('T') && !scanner.take(' ') && !scanner.take('t')) return std::nullopt;
    clock = take_clock(scanner, result.style);
    if (clock < 0 || !take_zone(scanner, result.zone, result.style)) return std::nullopt;
  }
  const std::int64_t local = days_until(day.year, day.month, day.day) * kDay + clock;
  // 24:00 and a leap second belong to the next day, and the last year has none after it.
  if (local >= days_until(kLastYear + 1, 1, 1) * kDay) return std::nullopt;
  result.microseconds = static_cast<double>(local - std::int64_t{result.zone} * 60'000'000);
  return result;
}

std::string written_date(double microseconds, std::int16_t zone, const DateStyle& style) {
  // The calendar ends somewhere; far outside of what is read a number of seconds says more.
  if (!(std::abs(microseconds) < 2.5e17)) return fmt::format("{}", microseconds / kSecond);
  const std::int64_t local = std::llround(microseconds) + std::int64_t{zone} * 60'000'000;
  std::int64_t days = local / kDay, clock = local % kDay;
  if (clock < 0) --days, clock += kDay;
  const Day day = day_at(days);
  std::string text = style.day_first ? fmt::format("{:02}{}{:02}{}{:04}", day.day, style.separator,
                                                   day.month, style.separator, day.year)
                                     : fmt::format("{:04}{}{:02}{}{:02}", day.year, style.separator,
                                                   day.month, style.separator, day.day);
  if (!style.clock && clock == 0) return text;
  text +=
      fmt::format("{}{:02}:{:02}", style.between, clock / 3'600'000'000, clock / 60'000'000 % 60);
  const std::int64_t rest = clock % 60'000'000;
  if (style.seconds || rest > 0) {
    text += fmt::format(":{:02}", rest / 1'000'000);
    std::int64_t fraction = rest % 1'000'000;
    int decimals = 6;
    while (decimals > style.decimals && fraction % 10 == 0) fraction /= 10, --decimals;
    if (decimals > 0) text += fmt::format(".{:0{}}", fraction, decimals);
  }
  return text + written_zone(zone, style);
}

DateStyle fuller(DateStyle a, const DateStyle& b) {
  if (!a.clock && b.clock) {
    a.between = b.between;
    a.zone = b.zone;
    a.blank_before_zone = b.blank_before_zone;
  }
  a.clock |= b.clock;
  a.seconds |= b.seconds;
  a.decimals = std::max(a.decimals, b.decimals);
  if (a.zone == DateStyle::Zone::none) a.zone = b.zone;
  return a;
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
  return result;
}

TimeAxis TimeAxis::subset(std::span<const std::size_t> series) const {
  TimeAxis result = rules();
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
    return origin == 0 ? fmt::format("{}", time) : written_number(origin + time);
  const double raw = std::round(axis.to_raw(series, time));
  switch (axis.kind) {
    case TimeKind::unix_seconds:
      return written_number(raw / kSecond);
    case TimeKind::unix_milliseconds:
      return written_number(raw / 1000);
    default:
      return written_date(raw, zone_at(axis, series, raw), axis.style);
  }
}

bool is_unix_time(const TimeAxis& axis, double number) {
  const double second = axis.kind == TimeKind::unix_seconds        ? 1
                        : axis.kind == TimeKind::unix_milliseconds ? 1000
                                                                   : 0;
  return number >= 3.15e8 * second && number < 4.1e9 * second;
}

double read_time(const Dataset& data, std::size_t series, std::string_view text) {
  const TimeAxis& axis = data.time_axis;
  if (const auto date = parse_date(text)) {
    if (!axis.is_calendar())
      throw Error(
          fmt::format("{}: the times of the data are numbers; give a number on their scale", text));
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
  const double second = axis.kind == TimeKind::unix_seconds ? kSecond : kSecond / 1000;
  return axis.from_raw(series, std::round(value * second));
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
  const DateStyle& s = axis.style;
  return {{"kind", kKinds[static_cast<std::size_t>(axis.kind)]},
          {"unit", name_of(axis.unit)},
          {"from_first", axis.from_first},
          {"epoch", axis.epoch},
          {"zone", axis.zone},
          {"style",
           {{"day_first", s.day_first},
            {"separator", std::string(1, s.separator)},
            {"between", std::string(1, s.between)},
            {"clock", s.clock},
            {"seconds", s.seconds},
            {"decimals", s.decimals},
            {"zone", static_cast<int>(s.zone)},
            {"blank_before_zone", s.blank_before_zone}}}};
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
  const auto whole = [&](const nlohmann::json& value, int least, int most) {
    if (!value.is_number_integer() || value < least || value > most) throw refuse();
    return value.get<int>();
  };
  axis.zone = static_cast<std::int16_t>(whole(json.at("zone"), -1200, 1200));
  const auto character = [&](const nlohmann::json& value, std::string_view known) {
    const auto text = value.get<std::string>();
    if (text.size() != 1 || known.find(text[0]) == std::string_view::npos) throw refuse();
    return text[0];
  };
  const nlohmann::json& style = json.at("style");
  axis.style.day_first = style.at("day_first").get<bool>();
  axis.style.separator = character(style.at("separator"), "-/.");
  axis.style.between = character(style.at("between"), " Tt");
  axis.style.clock = style.at("clock").get<bool>();
  axis.style.seconds = style.at("seconds").get<bool>();
  axis.style.decimals = static_cast<std::uint8_t>(whole(style.at("decimals"), 0, 6));
  axis.style.zone = static_cast<DateStyle::Zone>(whole(style.at("zone"), 0, 5));
  axis.style.blank_before_zone = style.at("blank_before_zone").get<bool>();
  if (!std::isfinite(axis.epoch) || (axis.is_calendar() && axis.unit == TimeUnit::none))
    throw refuse();
  return axis;
}

}  // namespace edict
