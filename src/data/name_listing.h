#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace edict {

// "'a', 'b', 'c'", not more than a line of them.
inline std::string name_listing(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), kShown));
  return fmt::format(
      "'{}'{}", fmt::join(names.begin(), names.begin() + shown, "', '"),
      names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

}  // namespace edict
