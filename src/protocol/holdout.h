// Observations hidden from a model so that its interpolation can be judged on them.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace edict {

// One entry an observation of the dataset, in its order: 1 where held out.
using Holdout = std::vector<std::uint8_t>;

// Each single observation with time < t_cut is held out with probability `fraction`. The draw for
// a series depends on the seed, its id and its own observations only.
Holdout draw_holdout(const Dataset& dataset, double t_cut, double fraction, std::uint64_t seed);

// The same of one series, from its first observation on: nothing is kept of the others.
Holdout draw_holdout(const Dataset& dataset, std::size_t series, double t_cut, double fraction,
                     std::uint64_t seed);

}  // namespace edict
