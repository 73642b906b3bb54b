// Losses are computed in double and leave as the scalar S: a value beyond S's range becomes the
// largest S instead of infinity, which would turn into NaN one multiplication later.
#pragma once

#include <algorithm>
#include <limits>

namespace edict {

template <class S>
S saturate(double value) {
  constexpr double limit = std::numeric_limits<S>::max();
  return static_cast<S>(std::clamp(value, -limit, limit));
}

}  // namespace edict
