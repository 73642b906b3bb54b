// What columns are usually called, however they are spelled: record_id, RecordID and "Record ID".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/time/time_axis.h"

namespace edict {

enum class ColumnRole { id, time, period, clock, variable, value, unit };

// The usual names of a role, the surer ones first, as squeezed() spells them.
std::span<const std::string_view> usual_names(ColumnRole role);
bool has_usual_name(std::string_view name, ColumnRole role);

// In lower case, without what stands in brackets at the end and without blanks, "_", "-", "." and
// "#": accents and the like are left alone.
std::string squeezed(std::string_view name);
std::string lower(std::string_view text);

// Whether a variable's column of this name may hold numbers, as MIMIC's itemid.
bool names_items(std::string_view name);
bool names_values(std::string_view name);

// Whether it may tell series apart, though it is none of the usual names.
bool names_id(std::string_view name);

// Whether it speaks of a time: visit_date, Monat, Messzeitpunkt.
bool names_time(std::string_view name);

// Of columns of times of day beside a date: whether nothing else is called so, whether it begins
// something, and whether it says how long something took.
bool names_clock_surely(std::string_view name);
bool names_start(std::string_view name);
bool names_duration(std::string_view name);

// A date of birth is no time of an observation.
bool names_birth(std::string_view name);

// Whether such a column only counts the rows: "Unnamed: 0" of pandas, "RECORD" of
// loggers, "index" in the first column.
bool names_rows(std::string_view name, bool is_first);

// Of "hours", "time_min" and "t [s]"; none where it says nothing.
TimeUnit unit_in_name(std::string_view name);

}  // namespace edict
