// Which columns hold what was observed, and what is known of each series.
#pragma once

#include "data/read/columns/column_choice.h"

namespace edict {

// Two columns that are called as in long form, or are said to be. Beside others the first of them
// has to hold names.
void choose_long_form(ColumnChoice& choice);

void choose_label_and_group(ColumnChoice& choice);
void choose_statics(ColumnChoice& choice);

// Every other column, or those that are named; or the long form where just its two are left.
void choose_observed(ColumnChoice& choice);

// Whether two columns of these names, with nothing beside them, are those of the long form.
bool is_long_form(std::string_view variable, std::string_view value);

}  // namespace edict
