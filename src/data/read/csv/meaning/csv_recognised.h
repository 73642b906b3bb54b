// What was guessed about a table, in one or two lines for whoever gave it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/read/cells/text_values.h"
#include "data/read/csv/csv_text.h"
#include "data/read/csv/layout/csv_layout.h"
#include "data/read/csv/rows/csv_table.h"
#include "data/read/event_rows.h"
#include "data/read/read_options.h"

namespace edict {

struct RecognisedTable {
  const CsvText& text;
  const CsvLayout& layout;
  const ReadOptions& options;
  const EventRows::Merged& merged;
  const CsvTable& table;

  struct Texts {
    std::string column;
    const ColumnMeaning* meaning;
    const TextColumn* texts;  // null where all are numbers
    UnknownWords words;       // for "missing"
  };
  std::vector<Texts> texts = {};  // of every feature and static covariate

  // Numbers that stood for "missing".
  struct Code {
    double value;
    std::string column;
    std::size_t cells;
    bool guessed;
  };
  std::vector<Code> codes;
  std::string first_joined = {};  // of values given twice
};

// Empty for a table as write_csv makes it. Where a model says how to read, only what differs.
std::vector<std::string> recognised(const RecognisedTable& table, const Dataset& data);

}  // namespace edict
