#include "data/read/cells/missing_codes.h"

#include <algorithm>
#include <cmath>

#include "base/text/lower_case.h"
#include "data/read/csv/csv_names.h"

namespace edict {

MissingCodes::MissingCodes(const std::vector<std::string>& given) {
  for (const std::string& code : given) {
    if (code == "none") {
      recognise_ = false;
      continue;
    }
    const std::size_t equals = code.rfind('=');
    codes_.push_back(equals == std::string::npos || equals == 0
                         ? Code{code, {}, {}}
                         : Code{code, code.substr(0, equals), code.substr(equals + 1)});
  }
}

bool MissingCodes::Code::is_of(std::string_view name) const {
  return !column.empty() && in_lower_case(column) == in_lower_case(name);
}

bool MissingCodes::matches_text(std::string_view column, std::string_view text) const {
  const auto number = finite_number(text);
  const auto same = [&](const std::string& code) {
    return code == text || (number && finite_number(code) == number);
  };
  return std::any_of(codes_.begin(), codes_.end(), [&](const Code& code) {
    return same(code.all) || (code.is_of(column) && same(code.value));
  });
}

std::vector<double> MissingCodes::numbers(std::string_view column) const {
  std::vector<double> result;
  for (const Code& code : codes_) {
    if (const auto all = finite_number(code.all)) result.push_back(*all);
    if (code.is_of(column))
      if (const auto value = finite_number(code.value)) result.push_back(*value);
  }
  return result;
}

Extremes::List Extremes::filled(double value) {
  List list;
  list.fill({value, 0});
  return list;
}

void Extremes::put(List& list, double value, int sign) {
  const auto of = [&](const Extreme& e) { return sign * e.value; };
  auto at =
      std::find_if(list.begin(), list.end(), [&](const Extreme& e) { return value <= of(e); });
  if (at == list.end()) return;
  if (of(*at) == value) {
    ++at->cells;
    return;
  }
  std::move_backward(at, list.end() - 1, list.end());
  *at = {sign * value, 1};
}

namespace {

// Numbers that programs and people write for "missing".
bool is_usual(double value) {
  for (const double usual :
       {99.0,    999.0,   9999.0,  99999.0,      999999.0,     9999999.0, 99999999.0, 99.9,
        999.9,   9999.9,  99.99,   999.99,       9999.99,      888.0,     8888.0,     7777.0,
        32767.0, 32768.0, 65535.0, 2147483647.0, 2147483648.0, 1e20,      1e30,       1e31,
        1e33,    1e34,    1e35,    1e36,         1e37})
    if (std::abs(value) == usual) return true;
  if (value == -200) return true;  // of the air quality of UCI
  return std::abs(value) > 9e36;   // the fill value of NetCDF, and the largest float
}

}  // namespace

std::vector<Extremes::Sentinel> Extremes::sentinels() const {
  std::vector<Sentinel> found;
  std::size_t lows = 0, highs = 0, others = count_;
  const auto take = [&](const Extreme& extreme, std::size_t& taken) {
    found.push_back({extreme.value, extreme.cells});
    others -= extreme.cells;
    ++taken;
  };
  constexpr std::size_t kFewest = 3;  // other numbers, to tell what stands out
  for (bool more = true; more;) {
    more = false;
    for (const bool low : {true, false}) {
      const List& list = low ? low_ : high_;
      std::size_t& taken = low ? lows : highs;
      if (taken + 1 >= list.size()) continue;
      const Extreme &extreme = list[taken], &next = list[taken + 1];
      if (extreme.cells == 0 || next.cells == 0 || !is_usual(extreme.value)) continue;
      if (others < extreme.cells + kFewest) continue;
      // What is left lies between the next one and the other end.
      const double other_end = low ? high_[highs].value : low_[lows].value;
      const double range = std::abs(other_end - next.value);
      const double gap = std::abs(next.value - extreme.value);
      const bool positive_others = low && extreme.value < 0 && next.value >= 0;
      const bool alone =
          positive_others && (extreme.value <= -999 || extreme.cells > 1 || gap > 0.5 * range);
      const bool dwarfs = gap > 2 * range && gap > 2 * std::abs(next.value) &&
                          (extreme.value < 0 || extreme.cells > 1);
      if (!alone && !dwarfs) continue;
      take(extreme, taken);
      more = true;
    }
  }
  return found;
}

}  // namespace edict
