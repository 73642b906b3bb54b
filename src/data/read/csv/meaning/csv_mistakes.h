// Texts where numbers should be, as a list of problems.
#pragma once

#include <string_view>

#include "data/read/cells/text_values.h"
#include "data/read/csv/csv_problems.h"

namespace edict {

// Those of a column whose meaning is that they are mistakes. `is_needed`: without the column there
// is nothing to read.
void note_mistakes(const TextColumn& texts, const ColumnMeaning& meaning, std::string_view column,
                   bool is_needed, CsvProblems& problems);

}  // namespace edict
