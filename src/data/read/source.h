// Where data come from: the one way in for the commands.
#pragma once

#include <string>

#include "data/dataset.h"
#include "data/read/read_options.h"

namespace edict {

// A table by the path of its file, compressed or not, or standard input where that is "-"; or
// packed data, which are told by their first bytes.
Dataset open_data(const std::string& uri, const ReadOptions& options = {});

}  // namespace edict
