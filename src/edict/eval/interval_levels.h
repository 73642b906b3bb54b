// The twenty central intervals on which calibration is judged, and how wide they are.
//
// The paper takes "twenty values of 1−2α in a grid between 0 and 1" (section "Expected Calibration
// Error"). Here they are k/21, k = 1…20: evenly spaced and all inside (0, 1). A grid with both ends
// would spend two of its twenty values on intervals that hold nothing and everything under any
// model, and so make every calibration error look a tenth smaller.
#pragma once

#include <array>
#include <cstddef>

namespace edict {

inline constexpr std::size_t kLevels = 20;
using PerLevel = std::array<double, kLevels>;

constexpr PerLevel interval_levels() {
  PerLevel levels{};
  for (std::size_t k = 0; k < kLevels; ++k)
    levels[k] = static_cast<double>(k + 1) / static_cast<double>(kLevels + 1);
  return levels;
}

// Half the width of each interval of a Student-t of scale 1, dof > 1 (infinite: a Gaussian).
// A polynomial in 1/dof stands for twenty root searches, at under a hundredth of their time; it is
// within 1e-11 (relative) of student_t_half_width.
PerLevel interval_half_widths(double dof);

}  // namespace edict
