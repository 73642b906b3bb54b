// Which column is the time, and how it is written.
#pragma once

#include <cstddef>
#include <optional>

#include "data/read/columns/column_choice.h"

namespace edict {

// By an option, by the model, by a usual name. Nothing where none is named.
std::optional<std::size_t> choose_named_time(ColumnChoice& choice);

// By the cells. Throws Error where none can be the time.
std::optional<std::size_t> choose_time_by_dates(const ColumnChoice& choice);
std::size_t choose_time_by_numbers(const ColumnChoice& choice);

// Year, month and day in a column each, or a column a day.
void refuse_divided_date(const ColumnChoice& choice, std::optional<std::size_t> time);
void refuse_days_as_columns(const ColumnChoice& choice);

// The time of day in a column of its own. `time` becomes that of the date.
void choose_clock(ColumnChoice& choice, std::size_t& time);

// How the times are written, and in which unit they are.
void choose_time_form(ColumnChoice& choice, std::size_t time);

}  // namespace edict
