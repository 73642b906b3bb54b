// What a file is by its first bytes, where it is none of the kinds that are read.
#pragma once

#include <optional>
#include <string_view>

namespace edict {

struct ForeignFile {
  std::string_view what;     // "a Parquet file", "an Excel workbook", …
  std::string_view instead;  // what to do: "export it as CSV, …"
};

// Nothing for text that may be a table, and for what is not recognised. Of a compressed file the
// bytes inside are looked at.
std::optional<ForeignFile> foreign_file(std::string_view bytes);

// Whether the bytes begin with a line of printable cells, as a table does and a model does not.
bool looks_like_table(std::string_view bytes);

}  // namespace edict
