// Which column tells series apart, and which only counts the rows.
#pragma once

#include <cstddef>
#include <optional>

#include "data/read/columns/column_choice.h"

namespace edict {

// By an option, by the model, by a usual name. Nothing where none is named, or where the table
// is said to be one series.
std::optional<std::size_t> choose_named_id(ColumnChoice& choice);

// The first column, unless it holds times or measurements; then the table is taken for one series,
// and the rows show whether there are several.
void choose_id_by_place(ColumnChoice& choice, std::optional<std::size_t> time);

void leave_out_row_index(ColumnChoice& choice);

}  // namespace edict
