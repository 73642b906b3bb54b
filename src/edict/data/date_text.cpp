#include "edict/data/date_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "edict/core/error.h"
#include "edict/core/json.h"

namespace edict {
namespace {

using Order = DateStyle::Order;
using Zone = DateStyle::Zone;

constexpr double kSecond = 1e6;  // in microseconds
constexpr std::int64_t kMinute = 60'000'000, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr int kFirstYear = 1685, kLastYear = 2255;
constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
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

bool exists(const Day& day) {
  return day.year >= kFirstYear && day.year <= kLastYear && day.month >= 1 && day.month <= 12 &&
         day.day >= 1 && day.day <= days_in(day.year, day.month);
}

// Of two digits, as POSIX reads them.
int full_year(int year) { return year < 0 ? year : year + (year < 69 ? 2000 : 1900); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Takes pieces off the front of a text; a piece that is not there is told, not thrown.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

  bool done() const { return p_ == end_; }
  char peek() const { return p_ == end_ ? '\0' : *p_; }
  char after() const { return end_ - p_ < 2 ? '\0' : p_[1]; }
  bool take(char c) {
    if (peek() != c) return false;
    ++p_;
    return true;
  }
  bool take_letter(char c) {  // in either case; `c` is a small letter
    if (lower(peek()) != c) return false;
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
  // The number of a month that is named here, in full or by its first three letters; else 0.
  int month() {
    const char* p = p_;
    while (p != end_ && is_letter(*p)) ++p;
    const std::string_view word(p_, static_cast<std::size_t>(p - p_));
    for (int m = 1; m <= 12; ++m) {
      const std::string_view name = kMonths[m - 1];
      if ((word.size() == 3 || word.size() == name.size()) &&
          std::equal(word.begin(), word.end(), name.begin(),
                     [](char a, char b) { return lower(a) == lower(b); })) {
        p_ = p;
        return m;
      }
    }
    return 0;
  }

 private:
  const char* p_;
  const char* end_;
};

// One or two digits of a day or month.
int take_short(Scanner& text, bool& padded) {
  padded &= text.digits_ahead() != 1;
  return text.number(1, 2);
}

// 1-Mar-2024, of which the day was taken, and Mar 1, 2024.
bool take_named_day(Scanner& text, Day& day, DateStyle& style) {
  style.named_month = true;
  if (style.order == Order::year_first) {
    style.order = Order::month_first;
    style.separator = ' ';
    day.month = text.month();
    if (day.month == 0 || !text.take(' ')) return false;
    day.day = take_short(text, style.padded);
    text.take(',');
    if (!text.take(' ')) return false;
  } else {
    day.month = text.month();
    if (day.month == 0 || !text.take(style.separator)) return false;
  }
  day.year = text.number(4, 4);
  return exists(day);
}

// What is on either side of a slash or a dash, in the order that is known or that a number decides.
bool order_day(int first, int second, const DateStyle* like, Day& day, DateStyle& style) {
  if (style.separator == '.')
    style.order = Order::day_first;
  else if (like && like->order != Order::year_first)
    style.order = like->order;
  else if (first > 12 || second > 12 || first == second)
    style.order = second > 12 ? Order::month_first : Order::day_first;
  else
    return false;
  const bool day_first = style.order == Order::day_first;
  day.day = day_first ? first : second;
  day.month = day_first ? second : first;
  return true;
}

bool take_day(Scanner& text, Day& day, DateStyle& style, const DateStyle* like) {
  const int digits = text.digits_ahead();
  if (digits == 0) return take_named_day(text, day, style);
  if (digits <= 2) {
    const int first = take_short(text, style.padded);
    style.order = Order::day_first;
    style.separator = text.peek();
    if (is_letter(text.after()) && (text.take('-') || text.take(' '))) {
      day.day = first;
      return take_named_day(text, day, style);
    }
    if (style.separator != '.' && style.separator != '/' && style.separator != '-') return false;
    text.take(style.separator);
    const int second = take_short(text, style.padded);
    if (!text.take(style.separator)) return false;
    // 24-03-01 may begin with the year.
    if (text.digits_ahead() == 2 && style.separator != '-') {
      style.short_year = true;
      day.year = full_year(text.number(2, 2));
    } else {
      day.year = text.number(4, 4);
    }
    return order_day(first, second, like, day, style) && exists(day);
  }
  day.year = text.number(4, 4);
  if (like && like->separator == '\0' && digits >= 8) {
    style.separator = '\0';
    day.month = text.number(2, 2);
    day.day = text.number(2, 2);
    return exists(day);
  }
  style.separator = text.peek();
  if (style.separator != '-' && style.separator != '/' && style.separator != '.') return false;
  text.take(style.separator);
  day.month = take_short(text, style.padded);
  if (!text.take(style.separator)) return false;
  day.day = take_short(text, style.padded);
  return exists(day);
}

// AM or PM behind a time of day; false where something else begins with these letters.
bool take_half(Scanner& text, int& hour, DateStyle& style) {
  Scanner ahead = text;
  const bool blank = ahead.take(' ');
  const char half = lower(ahead.peek());
  if (half != 'a' && half != 'p') return true;
  style.lower_half = ahead.peek() == half;
  ahead.take(ahead.peek());
  ahead.take('.');
  if (!ahead.take_letter('m')) return true;
  ahead.take('.');
  if (hour < 1 || hour > 12) return false;
  hour = hour % 12 + (half == 'p' ? 12 : 0);
  style.twelve_hours = true;
  style.blank_before_half = blank;
  text = ahead;
  return true;
}

// Decimals of a second behind their point, in microseconds; −1 where there are none.
std::int64_t take_decimals(Scanner& text, DateStyle& style) {
  const int given = text.digits_ahead();
  if (given < 1 || given > 9) return -1;
  style.decimals = static_cast<std::uint8_t>(std::min(given, 6));
  std::int64_t fraction = text.number(1, 9);
  for (int digits = given; digits < 9; ++digits) fraction *= 10;
  return (fraction + 500) / 1000;
}

// Hours, minutes, seconds and decimals, in microseconds; −1 where it is none.
std::int64_t take_clock(Scanner& text, DateStyle& style, char colon = ':') {
  style.padded_hour = text.digits_ahead() != 1;
  int hour = text.number(1, 2);
  if (hour < 0 || hour > 24 || !text.take(colon)) return -1;
  const int minute = text.number(2, 2);
  if (minute < 0 || minute > 59) return -1;
  std::int64_t result = 0;
  if (text.take(colon)) {
    style.seconds = true;
    const int second = text.number(2, 2);
    if (second < 0 || second > 60) return -1;  // 60: a leap second
    result = std::int64_t{second} * 1'000'000;
    if (text.peek() == '.' || text.peek() == ',') {
      text.take(text.peek());
      const std::int64_t fraction = take_decimals(text, style);
      if (fraction < 0) return -1;
      result += fraction;
    }
  }
  if (!take_half(text, hour, style)) return -1;
  result += hour * kHour + minute * kMinute;
  return result <= kDay ? result : -1;
}

// Z, UTC or hours and minutes from it.
bool take_zone(Scanner& text, std::int16_t& zone, DateStyle& style) {
  if (text.take('Z') || text.take('z')) {
    style.zone = Zone::letter;
    return true;
  }
  if (text.take('U')) {
    style.zone = Zone::utc;
    return text.take('T') && text.take('C');
  }
  const bool west = text.peek() == '-';
  if (!text.take('+') && !text.take('-')) return false;
  const int hours = text.number(2, 2);
  int minutes = 0;
  style.zone = Zone::hours;
  if (text.take(':')) {
    style.zone = Zone::colon;
    minutes = text.number(2, 2);
  } else if (text.digits_ahead() > 0) {
    style.zone = Zone::digits;
    minutes = text.number(2, 2);
  }
  if (hours < 0 || hours > 18 || minutes < 0 || minutes > 59) return false;
  const int offset = 60 * hours + minutes;
  zone = static_cast<std::int16_t>(west ? -offset : offset);
  return true;
}

std::optional<ParsedDate> date_of(const Day& day, std::int64_t clock, ParsedDate result) {
  const std::int64_t local = days_until(day.year, day.month, day.day) * kDay + clock;
  // 24:00 and a leap second belong to the next day, and the last year has none after it.
  if (local >= days_until(kLastYear + 1, 1, 1) * kDay) return std::nullopt;
  result.microseconds = static_cast<double>(local - result.zone * kMinute);
  return result;
}

// ---- formats ----

// One directive, or a character that stands for itself.
struct Directive {
  char what;  // '\0': `literal`
  char literal;
};

// Takes the next one off the format; those that stand for several are spelled out.
Directive next_of(std::string& format) {
  const char c = format.front();
  format.erase(0, 1);
  if (c != '%' || format.empty()) return {'\0', c};
  const char what = format.front();
  format.erase(0, 1);
  switch (what) {
    case '%':
      return {'\0', '%'};
    case 'F':
      format.insert(0, "-%m-%d");
      return {'Y', '\0'};
    case 'T':
      format.insert(0, ":%M:%S");
      return {'H', '\0'};
    case 'R':
      format.insert(0, ":%M");
      return {'H', '\0'};
    case 'D':
      format.insert(0, "/%d/%y");
      return {'m', '\0'};
    case 'e':
      return {'d', '\0'};
    case 'h':
    case 'B':
      return {'b', '\0'};
    default:
      return {what, '\0'};
  }
}

std::optional<ParsedDate> parse_in_format(std::string_view text, const DateStyle& like) {
  ParsedDate result{0.0, 0, like};
  Scanner scanner(text);
  Day day{0, 0, 0};
  int hour = 0, minute = 0, second = 0;
  std::int64_t fraction = 0;
  bool sound = true;
  for (std::string format = like.format; sound && !format.empty();) {
    const auto take = [&](int least, int most, int& to) {
      to = scanner.number(least, most);
      return to >= 0;
    };
    switch (const Directive next = next_of(format); next.what) {
      case 'Y':
        sound = take(4, 4, day.year);
        break;
      case 'y':
        sound = take(2, 2, day.year);
        day.year = full_year(day.year);
        break;
      case 'm':
        sound = take(1, 2, day.month);
        break;
      case 'd':
        sound = take(1, 2, day.day);
        break;
      case 'b':
        sound = (day.month = scanner.month()) > 0;
        break;
      case 'H':
      case 'I':
        sound = take(1, 2, hour) && hour <= 24;
        break;
      case 'M':
        sound = take(1, 2, minute) && minute <= 59;
        break;
      case 'S':
        sound = take(1, 2, second) && second <= 60;
        break;
      case 'f':
        sound = (fraction = take_decimals(scanner, result.style)) >= 0;
        break;
      case 'p':
        result.style.twelve_hours = false;
        sound = take_half(scanner, hour, result.style) && result.style.twelve_hours;
        break;
      case 'z':
        sound = take_zone(scanner, result.zone, result.style);
        break;
      default:
        sound = scanner.take(next.literal);
    }
  }
  if (!sound || !scanner.done() || !exists(day)) return std::nullopt;
  const std::int64_t clock = hour * kHour + minute * kMinute + second * 1'000'000 + fraction;
  if (clock > kDay) return std::nullopt;
  return date_of(day, clock, result);
}

// ---- writing ----

std::string written_zone(std::int16_t zone, const DateStyle& style) {
  if (style.zone == Zone::none) return {};
  const std::string blank = style.blank_before_zone ? " " : "";
  if (style.zone == Zone::letter && zone == 0) return blank + "Z";
  if (style.zone == Zone::utc && zone == 0) return blank + "UTC";
  const int minutes = std::abs(int{zone});
  const char sign = zone < 0 ? '-' : '+';
  if (style.zone == Zone::hours && minutes % 60 == 0)
    return fmt::format("{}{}{:02}", blank, sign, minutes / 60);
  return fmt::format("{}{}{:02}{}{:02}", blank, sign, minutes / 60,
                     style.zone == Zone::digits ? "" : ":", minutes % 60);
}

std::string two_digits(int number, bool padded) {
  return fmt::format(fmt::runtime(padded ? "{:02}" : "{}"), number);
}

std::string written_day(const Day& day, const DateStyle& style) {
  const std::string_view month_name = kMonths[day.month - 1].substr(0, 3);
  const std::string number = two_digits(day.day, style.padded),
                    month = style.named_month ? std::string(month_name)
                                              : two_digits(day.month, style.padded),
                    year = style.short_year ? fmt::format("{:02}", day.year % 100)
                                            : fmt::format("{:04}", day.year);
  const std::string between = style.separator == '\0' ? "" : std::string(1, style.separator);
  switch (style.order) {
    case Order::day_first:
      return number + between + month + between + year;
    case Order::month_first:
      if (style.named_month) return month + " " + number + ", " + year;
      return month + between + number + between + year;
    case Order::year_first:
      break;
  }
  return year + between + month + between + number;
}

std::string written_clock(std::int64_t clock, const DateStyle& style) {
  const auto hour = static_cast<int>(clock / kHour);
  std::string text =
      two_digits(style.twelve_hours ? (hour + 11) % 12 + 1 : hour, style.padded_hour) +
      fmt::format("{}{:02}", style.colon == '\0' ? "" : ":", clock / kMinute % 60);
  const std::int64_t rest = clock % kMinute;
  if (style.seconds || rest > 0) {
    text += fmt::format("{}{:02}", style.colon == '\0' ? "" : ":", rest / 1'000'000);
    std::int64_t fraction = rest % 1'000'000;
    int decimals = 6;
    while (decimals > style.decimals && fraction % 10 == 0) fraction /= 10, --decimals;
    if (decimals > 0) text += fmt::format(".{:0{}}", fraction, decimals);
  }
  if (!style.twelve_hours) return text;
  if (style.blank_before_half) text += ' ';
  return text + (style.lower_half ? (hour < 12 ? "am" : "pm") : (hour < 12 ? "AM" : "PM"));
}

std::string written_in_format(const Day& day, std::int64_t clock, std::int16_t zone,
                              const DateStyle& style) {
  std::string text;
  const auto hour = static_cast<int>(clock / kHour);
  for (std::string format = style.format; !format.empty();) {
    switch (const Directive next = next_of(format); next.what) {
      case 'Y':
        text += fmt::format("{:04}", day.year);
        break;
      case 'y':
        text += fmt::format("{:02}", day.year % 100);
        break;
      case 'm':
        text += fmt::format("{:02}", day.month);
        break;
      case 'd':
        text += fmt::format("{:02}", day.day);
        break;
      case 'b':
        text += kMonths[day.month - 1].substr(0, 3);
        break;
      case 'H':
        text += fmt::format("{:02}", hour);
        break;
      case 'I':
        text += fmt::format("{:02}", (hour + 11) % 12 + 1);
        break;
      case 'M':
        text += fmt::format("{:02}", clock / kMinute % 60);
        break;
      case 'S':
        text += fmt::format("{:02}", clock / 1'000'000 % 60);
        break;
      case 'f':
        text += fmt::format("{:06}", clock % 1'000'000).substr(0, style.decimals);
        break;
      case 'p':
        text += style.lower_half ? (hour < 12 ? "am" : "pm") : (hour < 12 ? "AM" : "PM");
        break;
      case 'z':
        text += written_zone(zone, style);
        break;
      default:
        text += next.literal;
    }
  }
  return text;
}

}  // namespace

std::optional<ParsedDate> parse_date(std::string_view text, const DateStyle* like) {
  if (like && !like->format.empty()) return parse_in_format(text, *like);
  ParsedDate result{0.0, 0, {}};
  Scanner scanner(text);
  Day day{};
  if (!take_day(scanner, day, result.style, like)) return std::nullopt;
  std::int64_t clock = 0;
  if (!scanner.done()) {
    result.style.clock = true;
    result.style.between = scanner.peek();
    if (result.style.separator == '\0' && scanner.digits_ahead() > 0) {
      result.style.between = '\0';
      return parse_digits_as_date(text);
    }
    if (scanner.take(',')) {
      if (!scanner.take(' ')) return std::nullopt;
    } else if (!scanner.take('T') && !scanner.take(' ') && !scanner.take('t')) {
      return std::nullopt;
    }
    clock = take_clock(scanner, result.style);
    if (clock < 0) return std::nullopt;
    if (!scanner.done()) {
      result.style.blank_before_zone = scanner.take(' ');
      if (!take_zone(scanner, result.zone, result.style) || !scanner.done()) return std::nullopt;
    }
  }
  return date_of(day, clock, result);
}

bool has_open_order(std::string_view text) {
  if (parse_date(text)) return false;
  DateStyle day_first;
  day_first.order = Order::day_first;
  return parse_date(text, &day_first).has_value();
}

std::optional<ParsedDate> parse_digits_as_date(std::string_view text) {
  Scanner scanner(text);
  const int digits = scanner.digits_ahead();
  if (static_cast<std::size_t>(digits) != text.size() ||
      (digits != 8 && digits != 12 && digits != 14))
    return std::nullopt;
  ParsedDate result{0.0, 0, {}};
  result.style.separator = '\0';
  Day day{};
  day.year = scanner.number(4, 4);
  day.month = scanner.number(2, 2);
  day.day = scanner.number(2, 2);
  if (!exists(day)) return std::nullopt;
  std::int64_t clock = 0;
  if (!scanner.done()) {
    result.style.clock = true;
    result.style.between = result.style.colon = '\0';
    const int hour = scanner.number(2, 2), minute = scanner.number(2, 2);
    result.style.seconds = !scanner.done();
    const int second = scanner.done() ? 0 : scanner.number(2, 2);
    if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
    clock = hour * kHour + minute * kMinute + second * 1'000'000;
  }
  return date_of(day, clock, result);
}

std::optional<double> parse_clock(std::string_view text, DateStyle& style) {
  DateStyle own;
  Scanner scanner(text);
  std::int64_t clock = take_clock(scanner, own);
  if (clock < 0) {
    scanner = Scanner(text);
    clock = take_clock(scanner, own, '.');
    if (!own.seconds) return std::nullopt;  // 18.30 is a number
  }
  if (clock < 0 || !scanner.done()) return std::nullopt;
  style.clock = true;
  style.seconds |= own.seconds;
  style.decimals = std::max(style.decimals, own.decimals);
  style.twelve_hours = own.twelve_hours;
  style.padded_hour = own.padded_hour;
  style.blank_before_half = own.blank_before_half;
  style.lower_half = own.lower_half;
  return static_cast<double>(clock);
}

std::string written_date(double microseconds, std::int16_t zone, const DateStyle& style) {
  // The calendar ends somewhere; far outside of what is read a number of seconds says more.
  if (!(std::abs(microseconds) < 2.5e17)) return fmt::format("{}", microseconds / kSecond);
  const std::int64_t local = std::llround(microseconds) + zone * kMinute;
  std::int64_t days = local / kDay, clock = local % kDay;
  if (clock < 0) --days, clock += kDay;
  const Day day = day_at(days);
  if (!style.format.empty()) return written_in_format(day, clock, zone, style);
  std::string text = written_day(day, style);
  if (!style.clock && clock == 0) return text;
  if (style.between == ',')
    text += ", ";
  else if (style.between != '\0')
    text += style.between;
  return text + written_clock(clock, style) + written_zone(zone, style);
}

DateStyle fuller(DateStyle a, const DateStyle& b) {
  if (!a.clock && b.clock) {
    a.between = b.between;
    a.colon = b.colon;
    a.zone = b.zone;
    a.blank_before_zone = b.blank_before_zone;
    a.twelve_hours = b.twelve_hours;
    a.padded_hour = b.padded_hour;
    a.blank_before_half = b.blank_before_half;
    a.lower_half = b.lower_half;
  }
  a.padded &= b.padded;
  if (b.clock) a.padded_hour &= b.padded_hour;
  a.clock |= b.clock;
  a.seconds |= b.seconds;
  a.decimals = std::max(a.decimals, b.decimals);
  if (a.zone == Zone::none) a.zone = b.zone;
  return a;
}

bool reads_back(const DateStyle& style) {
  return style.format.empty() && style.separator != '\0' &&
         (style.named_month || style.separator == '.' || style.order == Order::year_first);
}

void check_time_format(std::string_view format) {
  std::string seen;
  for (std::string rest(format); !rest.empty();) {
    const char what = next_of(rest).what;
    if (what != '\0' && std::string_view("YymdbHIMSfpz").find(what) == std::string_view::npos)
      throw Error(fmt::format(
          "--time-format {}: %{} is not read; give %Y %y %m %d %b %H %I %M %S %f %p %z, as in "
          "'%d/%m/%Y %H:%M'",
          format, what));
    seen += what;
  }
  const auto has = [&](const char* any) { return seen.find_first_of(any) != std::string::npos; };
  if (!has("Yy") || !has("mb") || !has("d"))
    throw Error(fmt::format(
        "--time-format {}: it needs a year, a month and a day, as in '%d/%m/%Y %H:%M'", format));
  if (has("I") != has("p"))
    throw Error(fmt::format("--time-format {}: %I and %p go together", format));
}

nlohmann::json to_json(const DateStyle& s) {
  const auto text = [](char c) { return c == '\0' ? std::string() : std::string(1, c); };
  return {{"day_first", s.order == Order::day_first},
          {"month_first", s.order == Order::month_first},
          {"separator", text(s.separator)},
          {"padded", s.padded},
          {"named_month", s.named_month},
          {"short_year", s.short_year},
          {"between", text(s.between)},
          {"clock", s.clock},
          {"colon", text(s.colon)},
          {"seconds", s.seconds},
          {"decimals", s.decimals},
          {"twelve_hours", s.twelve_hours},
          {"padded_hour", s.padded_hour},
          {"blank_before_half", s.blank_before_half},
          {"lower_half", s.lower_half},
          {"zone", static_cast<int>(s.zone)},
          {"blank_before_zone", s.blank_before_zone},
          {"format", s.format}};
}

DateStyle date_style_from_json(const nlohmann::json& json) {
  const auto refuse = [] { return Error("its time axis is malformed"); };
  const auto whole = [&](const nlohmann::json& value, int least, int most) {
    if (!value.is_number_integer() || value < least || value > most) throw refuse();
    return value.get<int>();
  };
  const auto character = [&](const std::string& text, std::string_view known) {
    if (text.empty() && known.back() == '\0') return '\0';
    if (text.size() != 1 || known.find(text[0]) == std::string_view::npos) throw refuse();
    return text[0];
  };
  using namespace std::literals;
  DateStyle s;
  // Older files know fewer of these.
  if (json.at("day_first").get<bool>()) s.order = Order::day_first;
  if (json.value("month_first", false)) s.order = Order::month_first;
  s.separator = character(json.at("separator").get<std::string>(), "-/. \0"sv);
  s.padded = json.value("padded", true);
  s.named_month = json.value("named_month", false);
  s.short_year = json.value("short_year", false);
  s.between = character(json.at("between").get<std::string>(), " Tt,\0"sv);
  s.clock = json.at("clock").get<bool>();
  s.colon = character(json.value("colon", ":"), ":\0"sv);
  s.seconds = json.at("seconds").get<bool>();
  s.decimals = static_cast<std::uint8_t>(whole(json.at("decimals"), 0, 6));
  s.twelve_hours = json.value("twelve_hours", false);
  s.padded_hour = json.value("padded_hour", true);
  s.blank_before_half = json.value("blank_before_half", true);
  s.lower_half = json.value("lower_half", false);
  s.zone = static_cast<Zone>(whole(json.at("zone"), 0, 5));
  s.blank_before_zone = json.at("blank_before_zone").get<bool>();
  s.format = json.value("format", "");
  if (!s.format.empty()) check_time_format(s.format);
  return s;
}

}  // namespace edict
