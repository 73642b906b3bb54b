// The days of the calendar, counted from 1970-01-01, and the lengths of their parts in
// microseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edict::dates {

inline constexpr std::int64_t kMinute = 60'000'000, kHour = 60 * kMinute, kDay = 24 * kHour;
inline constexpr int kFirstYear = 1685, kLastYear = 2255;
inline constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                               "May",       "June",     "July",     "August",
                                               "September", "October",  "November", "December"};

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

inline bool exists(const Day& day) {
  return day.year >= kFirstYear && day.year <= kLastYear && day.month >= 1 && day.month <= 12 &&
         day.day >= 1 && day.day <= days_in(day.year, day.month);
}

}  // namespace edict::dates
