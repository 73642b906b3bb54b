// Some series of a dataset, as a dataset.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "edict/data/dataset.h"

namespace edict {

// The listed series in their order, with what was observed before `until`. Names of features,
// classes and groups stay.
Dataset subset(const Dataset& data, std::span<const std::size_t> series,
               double until = std::numeric_limits<double>::infinity());

}  // namespace edict
