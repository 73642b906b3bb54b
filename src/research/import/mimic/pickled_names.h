// pandas keeps the column names of a table as a pickled Python list, written by PyTables in
// pickle's text protocol 0. Only lists and tuples of texts and whole numbers are read; nothing is
// executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edict {

// One entry a column: its name, or the names of its levels. Throws Error (naming `where`) for
// anything else.
std::vector<std::vector<std::string>> read_pickled_names(std::string_view pickle,
                                                         std::string_view where);

}  // namespace edict
