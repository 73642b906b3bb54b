// The paper's Synthetic data: two classes of three decaying waves, sparsely observed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/dataset.h"

namespace edict {

// Features x1, x2, x3; ids s00000, s00001, …; labels "0" and "1"; times from 0 to 4π. Series i is
// drawn from (seed, i) alone: a longer dataset begins with the shorter one.
Dataset generate_synthetic(std::size_t series, std::uint64_t seed);

}  // namespace edict
