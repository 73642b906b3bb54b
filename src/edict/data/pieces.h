// A few long series as many short ones, so that some can be trained on and others judged.
#pragma once

#include <cstddef>

#include "edict/data/dataset.h"

namespace edict {

// Events a piece for data that have too few series to be split, such as the table of one patient or
// one sensor: about forty pieces in all, of at least five events. 0 where there are ten series or
// more, and where not even ten pieces would come of it.
std::size_t piece_length(const Dataset& data);

// Every series cut after each `events` events, from its beginning, so that what is appended to it
// later moves no cut. The pieces of series `a` are called a/1, a/2, … and each is counted from its
// own first event.
Dataset in_pieces(const Dataset& data, std::size_t events);

}  // namespace edict
