// Where data come from: the one way in for the commands.
#pragma once

#include <string>

#include "edict/data/dataset.h"
#include "edict/sources/csv.h"

namespace edict {

// A CSV file by its path, or standard input where that is "-".
Dataset open_data(const std::string& uri, const CsvLimits& limits = {});

}  // namespace edict
