// How finely a feature tells anything: below that a predictive scale has no meaning, and a
// likelihood that rewards it would drown the other features.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "edict/data/dataset.h"
#include "edict/protocol/standardise.h"

namespace edict {

// The least scale of each feature in standardised units, from the listed series:
//   a share of the step between its distinct values, where it is rounded to some;
//   a share of its usual change, where most values repeat the one before;
//   a share of its deviation, where it never changes.
std::vector<double> least_scales(const Dataset& data, std::span<const std::size_t> series,
                                 const Standardisation& standardisation);

}  // namespace edict
