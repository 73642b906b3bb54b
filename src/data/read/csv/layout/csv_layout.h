// How a table in a text is laid out: where its header and rows stand, what its columns are and how
// its numbers are written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/cells/text_values.h"
#include "data/read/columns/column_layout.h"
#include "data/read/csv/csv_text.h"

namespace edict {

struct ReadOptions;

struct CsvLayout : ColumnLayout {
  bool decimal_comma = false, decimal_point = false;  // seen in the first rows
  bool points_group = false;                          // 1.234,5 was seen there
  DecimalMark decimal = DecimalMark::open;            // as said, or as the rows have it
  std::string open_decimal;              // a number such as 1.234 that nothing in the table decides
  std::string_view header;               // its line; empty where the names were given
  const char* rows = nullptr;            // where the rows begin
  std::size_t lines_skipped = 0;         // before the header
  std::size_t rows_below = 0;            // of units and the like below the header, left out
  std::vector<std::string> given_names;  // of a table without a header
  std::vector<std::string> kept_words;   // columns in which None and - are categories

  // Whether everything was called as write_csv calls it and separated by commas.
  bool plain = true;
};

// Sets the separator of the text. Throws Error where the header cannot be used, CsvNotUtf8 where it
// is in another encoding.
CsvLayout read_csv_layout(CsvText& text, const ReadOptions& options);

// Whether write_csv may call a feature so: not empty, none of the names of other columns.
bool valid_feature_name(std::string_view name);

}  // namespace edict
