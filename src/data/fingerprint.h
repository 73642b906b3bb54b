// One number for all that is in a dataset.
#pragma once

#include <cstdint>

#include "data/dataset.h"

namespace edict {

// Of every name and every array: two datasets that differ anywhere, be it in their order, have
// different ones but for chance.
std::uint64_t fingerprint(const Dataset& data);

}  // namespace edict
