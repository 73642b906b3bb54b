// What one event observed: `count` (feature, value) pairs, each feature at most once.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace edict {

template <class S>
struct Observed {
  const std::int32_t* feature;
  const S* value;
  Index count;
};

}  // namespace edict
