// Files of the source tree that travel inside the program: presets, published tables, the parts of
// the report's page. cmake/embed.cmake writes them into a source file at build time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edict {

struct EmbeddedFile {
  std::string_view name;  // relative to the root of the source tree: presets/synthetic/paper.toml
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();

// The text of one of them.
std::optional<std::string_view> embedded(std::string_view name);

// The lines of a small table after its header, which quotes nothing: those that are embedded, and
// those that stand beside them.
struct PlainRow {
  std::size_t line;  // from 1
  std::vector<std::string> cells;
};
std::vector<PlainRow> plain_rows(std::string_view text);

}  // namespace edict
