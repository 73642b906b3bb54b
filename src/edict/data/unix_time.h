#pragma once

#include "edict/data/time_axis.h"

namespace edict {

// Whether a number that a person gives is Unix time as the data's times are, and not a number on
// the scale on which they are counted: it lies between 1980 and 2100.
bool is_unix_time(const TimeAxis& axis, double number);

}  // namespace edict
