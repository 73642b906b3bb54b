#pragma once

#include <string>
#include <string_view>

namespace edict {

// Accents and the like are left alone.
inline std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace edict
