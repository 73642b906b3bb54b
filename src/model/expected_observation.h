// An observation beside what was expected of it just before it came.
#pragma once

#include <cstddef>

#include "engine/heads/marginal.h"

namespace edict {

// In the units of the data or of the model, as the one who makes it says.
struct ExpectedObservation {
  std::size_t event;  // those of a series with the same number came at once
  std::size_t feature;
  double observed;
  Marginal expected;
};

}  // namespace edict
