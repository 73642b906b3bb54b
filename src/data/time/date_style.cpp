#include <algorithm>

#include "base/error.h"
#include "base/json/json.h"
#include "data/time/date_text.h"

namespace edict {

DateStyle fuller(DateStyle a, const DateStyle& b) {
  if (!a.clock && b.clock) {
    a.between = b.between;
    a.colon = b.colon;
    a.minutes = b.minutes;
    a.zone = b.zone;
    a.blank_before_zone = b.blank_before_zone;
    a.twelve_hours = b.twelve_hours;
    a.padded_hour = b.padded_hour;
    a.blank_before_half = b.blank_before_half;
    a.lower_half = b.lower_half;
  }
  if (a.period != b.period) {  // 2020-01 beside 2020-01-15
    a.period = DateStyle::Period::day;
    a.padded = true;
    a.named_month = false;
    a.order = DateStyle::Order::year_first;
    a.separator = '-';
  }
  a.padded &= b.padded;
  if (b.clock) a.padded_hour &= b.padded_hour;
  if (b.clock) a.minutes |= b.minutes;
  a.clock |= b.clock;
  a.seconds |= b.seconds;
  a.decimals = std::max(a.decimals, b.decimals);
  if (a.zone == DateStyle::Zone::none) a.zone = b.zone;
  return a;
}

bool reads_back(const DateStyle& style) {
  if (style.period != DateStyle::Period::day)
    return style.format.empty() && (style.period != DateStyle::Period::month || style.named_month ||
                                    style.separator == '-' || style.separator == '/');
  return style.format.empty() && style.separator != '\0' &&
         (style.named_month || style.separator == '.' ||
          style.order == DateStyle::Order::year_first);
}

nlohmann::json to_json(const DateStyle& s) {
  const auto text = [](char c) { return c == '\0' ? std::string() : std::string(1, c); };
  return {{"day_first", s.order == DateStyle::Order::day_first},
          {"month_first", s.order == DateStyle::Order::month_first},
          {"separator", text(s.separator)},
          {"padded", s.padded},
          {"named_month", s.named_month},
          {"short_year", s.short_year},
          {"between", text(s.between)},
          {"clock", s.clock},
          {"colon", text(s.colon)},
          {"minutes", s.minutes},
          {"seconds", s.seconds},
          {"decimals", s.decimals},
          {"twelve_hours", s.twelve_hours},
          {"padded_hour", s.padded_hour},
          {"blank_before_half", s.blank_before_half},
          {"lower_half", s.lower_half},
          {"zone", static_cast<int>(s.zone)},
          {"blank_before_zone", s.blank_before_zone},
          {"period", static_cast<int>(s.period)},
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
  if (json.at("day_first").get<bool>()) s.order = DateStyle::Order::day_first;
  if (json.value("month_first", false)) s.order = DateStyle::Order::month_first;
  s.separator = character(json.at("separator").get<std::string>(), "-/. \0"sv);
  s.padded = json.value("padded", true);
  s.named_month = json.value("named_month", false);
  s.short_year = json.value("short_year", false);
  s.between = character(json.at("between").get<std::string>(), " Tt,\0"sv);
  s.clock = json.at("clock").get<bool>();
  s.colon = character(json.value("colon", ":"), ":\0"sv);
  s.minutes = json.value("minutes", true);
  s.seconds = json.at("seconds").get<bool>();
  s.decimals = static_cast<std::uint8_t>(whole(json.at("decimals"), 0, 6));
  s.twelve_hours = json.value("twelve_hours", false);
  s.padded_hour = json.value("padded_hour", true);
  s.blank_before_half = json.value("blank_before_half", true);
  s.lower_half = json.value("lower_half", false);
  s.zone = static_cast<DateStyle::Zone>(whole(json.at("zone"), 0, 5));
  s.blank_before_zone = json.at("blank_before_zone").get<bool>();
  s.period = static_cast<DateStyle::Period>(
      whole(json.contains("period") ? json.at("period") : nlohmann::json(0), 0, 3));
  s.format = json.value("format", "");
  if (!s.format.empty()) check_time_format(s.format);
  return s;
}

}  // namespace edict
