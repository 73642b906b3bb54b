// Where the table of a text begins: behind comments and the lines that instruments write first.
#pragma once

#include <cstddef>
#include <string>

#include "data/read/csv/csv_text.h"

namespace edict {

struct CsvHeader {
  const char* at;           // the line with the names
  std::size_t skipped = 0;  // lines before it that hold something
};

// Sets the separator of the text.
CsvHeader find_header(CsvText& text);

// Whether the cell is a number, a date or a time of day, as it may be written in data.
bool is_measured(const std::string& cell);

}  // namespace edict
