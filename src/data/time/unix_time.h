#pragma once

#include "data/time/time_axis.h"

namespace edict {

// How many of its unit a second has; 0 where the times are not Unix time.
double unix_per_second(TimeKind kind);

// Unix time as a number to microseconds, whole ones, and back.
double raw_from_unix(TimeKind kind, double number);
double unix_from_raw(TimeKind kind, double raw);

// Whether a number that a person gives is Unix time as the data's times are, and not a number on
// the scale on which they are counted: it lies between 1980 and 2100.
bool is_unix_time(const TimeAxis& axis, double number);

}  // namespace edict
