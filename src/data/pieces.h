// Few long series as many short ones, so that some can be trained on and others judged.
#pragma once

#include <cstddef>

#include "data/dataset.h"

namespace edict {

// Events a piece, for data with too few series to be split: the table of one patient, or of some
// sensors. 0 where series are split as they are: there are enough of them, or they are short.
std::size_t piece_length(const Dataset& data);

// Every series cut after each `events` events, counted from its beginning, so that what is appended
// to it later moves no cut. The pieces of series `a` are called a/1, a/2, …; each but the first
// continues the one before it (Dataset::continues) and keeps its times.
Dataset in_pieces(const Dataset& data, std::size_t events);

}  // namespace edict
