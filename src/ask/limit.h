// A value of a feature, and the side of it that a probability is wanted of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/heads/marginal.h"

namespace edict {

struct Limit {
  std::size_t feature = 0;
  double value = 0;
  bool above = true;      // else below
  std::string text = {};  // the value as it was written, if it was

  double probability(const Marginal& marginal) const;
};

// "lactate=2.5", or "lactate:2.5", as it is easier to write in an address: parts of the text.
struct LimitText {
  std::string_view feature, value;
  double number;
};
// Nothing where the text is not a name, one of the two signs and a finite number.
std::optional<LimitText> split_limit(std::string_view text);

}  // namespace edict
