#include "ask/limit.h"

#include <charconv>
#include <cmath>

#include "ask/distribution.h"

namespace edict {

double Limit::probability(const Marginal& marginal) const {
  return above ? probability_above(marginal, value) : probability_below(marginal, value);
}

std::optional<LimitText> split_limit(std::string_view text) {
  const std::size_t sign = text.find_last_of("=:");
  if (sign == std::string_view::npos || sign == 0) return {};
  const std::string_view value = text.substr(sign + 1);
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number))
    return {};
  return LimitText{text.substr(0, sign), value, number};
}

}  // namespace edict
