// Numbers as people and devices write them: 5.2 mmol/L, 97 %, <0.1, 1 234,5, $1,234.50.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

namespace edict {

struct WrittenNumber {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  // With a decimal point and with a decimal comma, as far as it is a number then. Points, commas,
  // blanks and apostrophes may stand between groups of three digits.
  double with_point = kNone, with_comma = kNone;
  bool points_group = false;     // the points in it can only be between groups, as in 1.234,5
  char limit = '\0';             // '<' or '>': it is at most or at least so much
  std::string_view unit;         // what stands before or behind it; empty without
  bool unit_is_certain = false;  // nobody writes the name of something so: % or mmol/L, not 3A
};

// Nothing where the text is none, or a number that is not finite.
std::optional<WrittenNumber> read_written_number(std::string_view text);

// Whether both are one unit, be its µ the sign for micro (U+00B5) or the Greek letter (U+03BC).
bool same_unit(std::string_view a, std::string_view b);

// Words that programs write where a value is missing: unavailable, #N/A!, No Data, error.
bool says_missing(std::string_view text);

}  // namespace edict
