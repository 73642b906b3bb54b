// The rows of a table as they stand in its file, so that a command can write the table again and
// change no more than some of its cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/read/csv/csv_text.h"
#include "data/read/csv/layout/csv_layout.h"
#include "data/read/csv/rows/csv_rows.h"

namespace edict {

struct CsvOriginal {
  CsvText text;
  CsvLayout layout;
  std::vector<CsvPlace> rows;    // without those that are blank
  std::vector<std::string> ids;  // of the series that rows name
  bool decimal_comma = false;    // in its numbers

  // The header line, without its end.
  std::string_view header() const;
};

// Reads the table a second time: what is wrong with it has been reported by read_csv, which takes
// the same options.
CsvOriginal read_csv_original(CsvText text, const ReadOptions& options);

}  // namespace edict
