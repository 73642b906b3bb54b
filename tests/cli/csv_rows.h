// The cells of a table that the tool wrote; quotes are not looked at.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace edict {

using Rows = std::vector<std::vector<std::string>>;

inline Rows rows_of(const std::string& csv) {
  Rows rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& cells = rows.emplace_back();
    std::size_t from = 0;
    for (std::size_t to; (to = line.find(',', from)) != std::string::npos; from = to + 1)
      cells.push_back(line.substr(from, to - from));
    cells.push_back(line.substr(from));
  }
  return rows;
}

}  // namespace edict
