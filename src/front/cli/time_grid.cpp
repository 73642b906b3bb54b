#include "front/cli/time_grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/time/unix_time.h"

namespace edict::cli {
namespace {

constexpr double kMostTimes = 1e7;

// digits · 10^−decimals, exactly.
struct Decimal {
  std::int64_t digits = 0;
  int decimals = 0;
};

constexpr int kMostDecimals = 15;
constexpr double kExact = 9007199254740992.0;  // 2^53: up to here a double holds every integer

// Nothing where the text has more digits than can be reckoned with exactly.
std::optional<Decimal> decimal_of(std::string_view text) {
  Decimal result;
  bool negative = false, point = false;
  std::size_t i = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) negative = text[i++] == '-';
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    result.digits = 10 * result.digits + (text[i] - '0');
    result.decimals += point;
    if (static_cast<double>(result.digits) > kExact) return std::nullopt;
  }
  if (i < text.size()) {
    int exponent = 0;
    const char* first = text.data() + i + 1;
    if (*first == '+') ++first;
    if (std::from_chars(first, text.data() + text.size(), exponent).ec != std::errc())
      return std::nullopt;
    result.decimals -= exponent;
  }
  if (negative) result.digits = -result.digits;
  return result;
}

// As an integer of the given number of decimals.
std::optional<std::int64_t> scaled(Decimal number, int decimals) {
  for (; number.decimals < decimals && number.digits != 0; ++number.decimals) {
    number.digits *= 10;
    if (std::abs(static_cast<double>(number.digits)) > kExact) return std::nullopt;
  }
  return number.digits;
}

double number(const std::string& option, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw Error(
        fmt::format("{}: '{}' is not a number; give START:STEP:END or t1,t2,…", option, text));
  return value;
}

// The grid in integers, divided once: a division of two exact doubles gives the double nearest to
// the quotient, which is the one that reading the decimal text would give.
std::optional<std::vector<double>> exact_grid(const std::vector<std::string>& parts) {
  std::vector<Decimal> numbers;
  int decimals = 0;
  for (const std::string& part : parts) {
    const auto found = decimal_of(part);
    if (!found) return std::nullopt;
    numbers.push_back(*found);
    decimals = std::max(decimals, found->decimals);
  }
  if (decimals > kMostDecimals) return std::nullopt;
  std::int64_t steps[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const auto found = scaled(numbers[i], decimals);
    if (!found) return std::nullopt;
    steps[i] = *found;
  }
  const auto [start, step, end] = steps;
  const double unit = std::pow(10.0, decimals);
  std::vector<double> times;
  for (std::int64_t at = start; at <= end; at += step)
    times.push_back(static_cast<double>(at) / unit);
  return times;
}

}  // namespace

std::vector<double> parse_times(const std::string& option, const std::string& text) {
  std::vector<std::string> parts;
  const char separator = text.find(':') != std::string::npos ? ':' : ',';
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  std::vector<double> times;
  for (const std::string& part : parts) times.push_back(number(option, part));
  if (separator == ',') {
    std::sort(times.begin(), times.end());
    return times;
  }
  if (parts.size() != 3)
    throw Error(fmt::format("{}: a grid is START:STEP:END, as in 0:0.5:10", option));
  const double start = times[0], step = times[1], end = times[2];
  if (!(step > 0) || end < start || (end - start) / step > kMostTimes)
    throw Error(
        fmt::format("{}: the step must be positive, the end must not lie before the start, and "
                    "there may be at most ten million times",
                    option));
  if (auto exact = exact_grid(parts)) return *exact;
  times.clear();
  const auto count = static_cast<std::size_t>((end - start) / step * (1 + 1e-12) + 1e-9);
  for (std::size_t i = 0; i <= count; ++i) times.push_back(start + static_cast<double>(i) * step);
  return times;
}

GivenTimes::GivenTimes(std::string option, const std::string& text, const TimeAxis& known)
    : option_(std::move(option)) {
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    dates_.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  if (is_date_of(known, dates_.front())) return;
  dates_.clear();
  numbers_ = parse_times(option_, text);
}

bool GivenTimes::are_moments(const Dataset& data) const {
  return !dates_.empty() || (!numbers_.empty() && is_unix_time(data.time_axis, numbers_.front()));
}

std::vector<double> GivenTimes::of(const Dataset& data, std::size_t series) const {
  std::vector<double> times;
  const auto add = [&](const std::string& text) {
    double time = 0;
    try {
      time = read_time(data, series, text);
    } catch (const Error& error) {
      throw Error(fmt::format("{} {}", option_, error.message(command_line_option)));
    }
    // Without an event a series has no first one to count from.
    if (!std::isnan(time) && !(data.time_axis.from_first && time < 0)) times.push_back(time);
  };
  for (const std::string& date : dates_) {
    if (!is_date_of(data.time_axis, date))
      throw Error(fmt::format(
          "{}: '{}' is not a date as those of the data are; write all as 2024-03-01 12:30", option_,
          date));
    add(date);
  }
  for (const double number : numbers_) add(fmt::format("{}", number));
  std::sort(times.begin(), times.end());
  return times;
}

void note_without_times(std::size_t without, std::size_t series) {
  if (without > 0)
    fmt::print(stderr, "note: {} of {} series begin{} after the times of --at and {} no row\n",
               without, series, without == 1 ? "s" : "", without == 1 ? "has" : "have");
}

}  // namespace edict::cli
