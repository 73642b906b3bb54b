// The quantities of the training part by which settings are chosen (learn/fit_settings.h): how long
// a series is, how far apart its events are, how much there is to learn from.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace edict {

// Forecasts are judged after this share of a series, or of the window of all of them.
inline constexpr double kCutShare = 0.75;

// A feature with a few values, less than one in a hundred, far beyond all others.
struct FeatureWithOutliers {
  std::size_t feature;
  double min, max;         // of all values
  double usual_deviation;  // of the others
};

struct DataFacts {
  std::size_t series = 0, events = 0, observations = 0;
  std::size_t features = 0, classes = 0;
  double first_time = 0, last_time = 0;
  // Between neighbouring events of a series; 0 where there is no gap.
  double median_gap = 0, mean_gap = 0, longest_gap = 0;
  double length = 0;        // of all but the longest tenth of the series
  bool one_clock = true;    // the series lie in one window of time, rather than each in its own
  bool reach_cut = true;    // most of them go on after three quarters of that window
  bool pieces = false;      // few long series, cut into pieces
  std::size_t windows = 0;  // that an epoch learns from
  // After which the values of the median feature have forgotten what they were; 0 where none tells.
  double memory = 0;
  std::vector<std::size_t> constant_features;  // observed, and always with the same value
  std::vector<FeatureWithOutliers> features_with_outliers;
};
// Throws Error where the part holds no event.
DataFacts facts_of(const Dataset& data, std::span<const std::size_t> training);

}  // namespace edict
