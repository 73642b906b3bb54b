// What each column of a table is: from its name, its first cells, what the options say and what a
// model knows. The one way for files, bodies and arrays.
#pragma once

#include <string>
#include <vector>

#include "data/read/columns/column_layout.h"
#include "data/read/columns/table_sample.h"
#include "data/read/read_options.h"

namespace edict {

// Throws Error without a subject where the columns are no table of series.
void recognise_columns(const TableSample& sample, const ReadOptions& options, ColumnLayout& layout);

}  // namespace edict
