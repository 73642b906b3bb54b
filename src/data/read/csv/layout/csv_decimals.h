// Whether the numbers of a table have a decimal point or a decimal comma.
#pragma once

#include "data/read/columns/table_sample.h"
#include "data/read/csv/layout/csv_layout.h"
#include "data/read/read_options.h"

namespace edict {

// From the first rows; from all of them where these leave 1.234 open and commas do not separate.
void recognise_decimals(const TableSample& sample, bool commas_separate, const ReadOptions& options,
                        CsvLayout& layout);

}  // namespace edict
