// The twenty central intervals on which calibration is judged, and how wide they are.
//
// The paper takes "twenty values of 1−2α in a grid between 0 and 1" (section "Expected Calibration
// Error"); in its authors' code they are linspace(0, 1, 20), both ends included.
#pragma once

#include <array>
#include <cstddef>

namespace edict {

inline constexpr std::size_t kLevels = 20;
using PerLevel = std::array<double, kLevels>;

// The interval of level 1 is the whole line: widths belong to the levels before it.
inline constexpr std::size_t kWidths = kLevels - 1;
using PerWidth = std::array<double, kWidths>;

constexpr PerLevel interval_levels() {
  PerLevel levels{};
  for (std::size_t k = 0; k < kLevels; ++k)
    levels[k] = static_cast<double>(k) / static_cast<double>(kLevels - 1);
  return levels;
}

// Half the width of each interval of a Student-t of scale 1, dof > 1 (infinite: a Gaussian).
// A polynomial in 1/dof stands for nineteen root searches, at under a hundredth of their time; it
// is within 1e-11 (relative) of student_t_half_width.
PerWidth interval_half_widths(double dof);

}  // namespace edict
