// The literals in a line of C++.
#pragma once

#include <string>
#include <vector>

namespace edict {

// What stands between quotes; comments have none.
inline std::vector<std::string> literals_of(const std::string& line) {
  std::vector<std::string> found;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!inside && line.compare(i, 2, "//") == 0) break;
    if (!inside && line.compare(i, 3, "'\"'") == 0) {
      i += 2;
    } else if (line[i] == '"') {
      inside = !inside;
      if (inside) found.emplace_back();
    } else if (inside) {
      if (line[i] == '\\') found.back() += line[i++];
      if (i < line.size()) found.back() += line[i];
    }
  }
  return found;
}

}  // namespace edict
