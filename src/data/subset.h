// Some series of a dataset, as a dataset.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "data/dataset.h"

namespace edict {

// The listed series in their order, with what was observed before `until`. Names of features,
// classes and groups stay. A series that is listed several times, as in a bootstrap, becomes "a",
// "a (copy 2)", ….
Dataset subset(const Dataset& data, std::span<const std::size_t> series,
               double until = std::numeric_limits<double>::infinity());

// "a" of "a (copy 2)". Copies of a series are on one side of a split: else a model would be judged
// by what it learnt from.
std::string_view original_id(std::string_view id);

}  // namespace edict
