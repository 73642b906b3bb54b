// From the times of a table to those of a dataset: counted in a unit, from an origin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/read/read_options.h"

namespace edict {

// Remembers in which zone each event was written: `zones` is one entry an event, or empty where all
// are the same. The dataset's times are still raw (time_axis.h).
void note_zones(Dataset& data, const std::vector<std::int16_t>& zones);

// What dates are counted in where nobody says it: the largest unit of which half of the series have
// at least ten. `spans` are those of the series with more than one event, in seconds.
TimeUnit usual_unit(std::vector<double> spans);

// The dataset's times are raw and its axis knows their kind and style. Chooses unit and origin
// where nobody says them: numbers stay as they are; dates are counted from each series' first
// event, in the usual unit. Throws Error.
void count_times(Dataset& data, const ReadOptions& options);

}  // namespace edict
