// Which series train, which choose (validation) and which judge (test).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "edict/data/dataset.h"

namespace edict {

// Indices of series, each list ascending.
struct Split {
  std::vector<std::size_t> train, validation, test;
};

enum class SplitBy {
  label,  // every class in the same proportions; series without label are a class of their own
  group,  // whole groups on one side; a series without group is a group of its own
};

// `train` and `validation` are shares of the series, the test part is the rest. A part with a
// positive share is never empty. Part sizes are the shares rounded by largest remainder; by group
// they are only as near as the sizes of the groups allow.
Split split(const Dataset& dataset, std::uint64_t seed, double train = 0.7, double validation = 0.1,
            SplitBy by = SplitBy::label);

}  // namespace edict
