// What series come to together, as evaluations add them up.
#pragma once

#include <span>

#include "judge/calibration_metrics.h"

namespace edict {

inline CalibrationResult summarised(std::span<const SeriesCalibration> series) {
  CalibrationSums sums;
  for (const SeriesCalibration& own : series) sums.add(own);
  return sums.result();
}

}  // namespace edict
