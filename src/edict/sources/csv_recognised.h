// What was guessed about a table, in one or two lines for whoever gave it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "edict/data/dataset.h"
#include "edict/sources/csv_layout.h"
#include "edict/sources/csv_text.h"
#include "edict/sources/event_rows.h"
#include "edict/sources/read_options.h"
#include "edict/sources/text_values.h"

namespace edict {

struct RecognisedTable {
  const CsvText& text;
  const CsvLayout& layout;
  const ReadOptions& options;
  const EventRows::Merged& merged;
  bool decimal_comma;

  struct Texts {
    std::string column;
    bool is_static;
    const ColumnMeaning* meaning;
    std::size_t unknown;  // cells that are no category of the model's
  };
  std::vector<Texts> texts;

  // Numbers that stood for "missing".
  struct Code {
    double value;
    std::string column;
    std::size_t cells;
    bool guessed;
  };
  std::vector<Code> codes;
  std::string first_joined;  // of values given twice
  std::size_t rows_before_times, repeated_headers;
};

// Empty for a table as write_csv makes it. Where a model says how to read, only what differs.
std::vector<std::string> recognised(const RecognisedTable& table, const Dataset& data);

}  // namespace edict
