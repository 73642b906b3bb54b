// Labels name classes.
#pragma once

#include <string>
#include <vector>

#include "data/read/csv/csv_text.h"
#include "data/read/csv/layout/csv_layout.h"

namespace edict {

// Throws Error where the labels are many different numbers, which are a quantity.
void check_labels(const CsvText& text, const CsvLayout& layout,
                  const std::vector<std::string>& names);

}  // namespace edict
