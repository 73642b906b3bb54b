#include "render/embedded.h"

#include <algorithm>
#include <utility>

namespace edict {

std::optional<std::string_view> embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == name) return file.text;
  return std::nullopt;
}

std::vector<PlainRow> plain_rows(std::string_view text) {
  std::vector<PlainRow> rows;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    PlainRow row{++line, std::vector<std::string>(1)};
    for (const char c : text.substr(at, end - at))
      if (c == ',')
        row.cells.emplace_back();
      else if (c != '\r')
        row.cells.back() += c;
    at = end + 1;
    if (line > 1 && row.cells != std::vector<std::string>{""}) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace edict
