#include "data/read/cells/written_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace edict {
namespace {

using namespace std::literals;

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Blanks, also those of other widths that do not break.
bool take_blank(std::string_view& text) {
  for (const std::string_view blank : {" "sv, "\u00a0"sv, "\u202f"sv, "\u2009"sv, "\t"sv})
    if (take(text, blank)) return true;
  return false;
}

void skip_blanks(std::string_view& text) {
  while (take_blank(text)) {
  }
}

void trim_end(std::string_view& text) {
  for (bool trimmed = true; trimmed;) {
    trimmed = false;
    for (const std::string_view blank : {" "sv, "\u00a0"sv, "\u202f"sv, "\u2009"sv, "\t"sv})
      if (text.ends_with(blank)) {
        text.remove_suffix(blank.size());
        trimmed = true;
      }
  }
}

char take_limit(std::string_view& text) {
  for (const auto& [sign, limit] :
       {std::pair("<="sv, '<'), std::pair(">="sv, '>'), std::pair("<"sv, '<'),
        std::pair(">"sv, '>'), std::pair("≤"sv, '<'), std::pair("≥"sv, '>')})
    if (take(text, sign)) return limit;
  return '\0';
}

std::string_view take_currency(std::string_view& text) {
  for (const std::string_view sign : {"$"sv, "€"sv, "£"sv, "¥"sv})
    if (take(text, sign)) return sign;
  return {};
}

// Digits with marks between them, and an exponent. Blanks and apostrophes are only taken before
// three more digits; they become '_'.
std::string take_digits(std::string_view& text) {
  std::string digits;
  while (!text.empty()) {
    const char c = text.front();
    if (is_digit(c) || ((c == '.' || c == ',') && (!digits.empty() || text.size() > 1))) {
      digits += c;
      text.remove_prefix(1);
      continue;
    }
    std::string_view rest = text;
    const bool mark = take_blank(rest) || take(rest, "'") || take(rest, "’");
    if (!mark || digits.empty() || !is_digit(digits.back()) || rest.size() < 3 ||
        !is_digit(rest[0]) || !is_digit(rest[1]) || !is_digit(rest[2]) ||
        (rest.size() > 3 && is_digit(rest[3])))
      break;
    digits += '_';
    text = rest;
  }
  if (digits.empty() || text.size() < 2 || (text.front() != 'e' && text.front() != 'E'))
    return digits;
  std::size_t end = 1;
  if (text[end] == '-' || text[end] == '+') ++end;
  const std::size_t first = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == first || (end < text.size() && text[end] == '/')) return digits;
  digits += 'e';
  digits.append(text.substr(text[1] == '+' ? 2 : 1, end - (text[1] == '+' ? 2 : 1)));
  text.remove_prefix(end);
  return digits;
}

// The digits with this decimal mark; `other` may only stand between groups.
double number_with(const std::string& digits, char mark, char other, bool negative) {
  std::string plain;
  const std::size_t exponent = std::min(digits.find('e'), digits.size());
  const std::size_t decimal = digits.rfind(mark, exponent);
  if (decimal != std::string::npos && digits.find(mark) != decimal) return WrittenNumber::kNone;
  const std::size_t whole = std::min(decimal, exponent);
  char group = '\0';
  std::size_t since = 0;  // the last mark of a group
  for (std::size_t i = 0; i < whole; ++i, ++since) {
    const char c = digits[i];
    if (c != other && c != '_') {
      plain += c;
      continue;
    }
    // The first group has one to three digits and begins with no zero, the others have three.
    if (group == '\0' ? since < 1 || since > 3 || digits[0] == '0' : since != 3 || c != group)
      return WrittenNumber::kNone;
    group = c;
    since = static_cast<std::size_t>(-1);
  }
  if (group != '\0' && since != 3) return WrittenNumber::kNone;
  if (decimal != std::string::npos) {
    const std::string fraction = digits.substr(decimal + 1, exponent - decimal - 1);
    if (fraction.find_first_not_of("0123456789") != std::string::npos) return WrittenNumber::kNone;
    if (plain.empty() && fraction.empty()) return WrittenNumber::kNone;
    plain += '.' + fraction;
  }
  plain += digits.substr(exponent);
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc{} || end != plain.data() + plain.size() || !std::isfinite(value))
    return WrittenNumber::kNone;
  return negative ? -value : value;
}

// Letters, signs of units and what stands between them; digits as powers only. "mg aspirin" and
// "of 10" are none.
bool is_unit(std::string_view text, bool behind_blank, bool& certain) {
  certain = behind_blank;
  bool letter = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool high = static_cast<unsigned char>(c) >= 0x80;  // °, µ, ², ·
    letter |= high || c == '%' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    certain |= high || c == '%' || c == '/';
    if (high || c == '%' || c == '/' || c == '^' || c == '*' || c == '.' || c == '-' || c == '(' ||
        c == ')' || c == '[' || c == ']' || c == '_' || (c >= 'a' && c <= 'z') ||
        (c >= 'A' && c <= 'Z'))
      continue;
    if (is_digit(c) && (i > 0 || text.starts_with("10^") || text.starts_with("10*"))) continue;
    return false;
  }
  const bool power = text.starts_with("10^") || text.starts_with("10*");
  // 0x10 and 1e are damaged numbers.
  if (text == "e" || text == "E" ||
      (text.size() > 1 && (text[0] == 'x' || text[0] == 'X') && is_digit(text[1])))
    return false;
  return letter && text.size() <= 24 && (power || !is_digit(text.front())) && text.front() != '-' &&
         text.front() != '.' && text.front() != '*' && text.front() != '_' && text.front() != '^' &&
         text.front() != ')' &&
         // 120/80 are two numbers
         !(text.front() == '/' && text.size() > 1 && is_digit(text[1]));
}

}  // namespace

std::optional<WrittenNumber> read_written_number(std::string_view text) {
  WrittenNumber number;
  skip_blanks(text);
  trim_end(text);
  number.limit = take_limit(text);
  skip_blanks(text);
  bool negative = take(text, "-") || take(text, "−");
  number.unit = take_currency(text);
  number.unit_is_certain = !number.unit.empty();
  skip_blanks(text);
  if (!negative && !take(text, "+")) negative = take(text, "-") || take(text, "−");
  std::string digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  // A point or comma at the end belongs to a sentence, or is a decimal mark without decimals.
  if (digits.back() == '.' || digits.back() == ',') digits.pop_back();
  const bool blank = take_blank(text);
  skip_blanks(text);
  if (!text.empty()) {
    if (!number.unit.empty() || !is_unit(text, blank, number.unit_is_certain)) return std::nullopt;
    number.unit = text;
  }
  number.with_point = number_with(digits, '.', ',', negative);
  number.with_comma = number_with(digits, ',', '.', negative);
  if (std::isnan(number.with_point) && std::isnan(number.with_comma)) return std::nullopt;
  number.points_group = std::isnan(number.with_point) && digits.find('.') != std::string::npos;
  return number;
}

bool same_unit(std::string_view a, std::string_view b) {
  const auto with_letter = [](std::string_view unit) {
    std::string text(unit);
    for (std::size_t at = 0; (at = text.find("\u00b5", at)) != text.npos;)
      text.replace(at, 2, "\u03bc");
    return text;
  };
  return a == b || with_letter(a) == with_letter(b);
}

bool says_missing(std::string_view text) {
  if (text.size() > 20) return false;
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const std::string_view word :
       {"unavailable"sv, "unknown"sv, "missing"sv,  "no data"sv,   "nodata"sv,    "not available"sv,
        "n.a."sv,        "n. a."sv,   "nil"sv,      "#n/a!"sv,     "#na"sv,       "#value!"sv,
        "#ref!"sv,       "#div/0!"sv, "#num!"sv,    "#name?"sv,    "#null!"sv,    "#wert!"sv,
        "#bezug!"sv,     "#nv"sv,     "no value"sv, "bad"sv,       "bad input"sv, "i/o timeout"sv,
        "pt created"sv,  "<nan>"sv,   "---"sv,      "undefined"sv, "k.a."sv,      "n.v."sv,
        "none"sv,        "na"sv,      "nan"sv,      "null"sv,      "n/a"sv})
    if (lower == word) return true;
  return false;
}

}  // namespace edict
