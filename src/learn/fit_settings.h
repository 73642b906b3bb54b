// Settings that fit the data: what training uses where nobody said otherwise.
//
// Every choice is a function of a few quantities of the training part (how long a series is, how
// far apart its events are, how much there is to learn from) and none of the unit in which times or
// values are written. The rules and the trials they were found by are in docs/understand/defaults.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/config.h"
#include "protocol/split.h"

namespace edict {

// A feature of which a few values, less than one in a hundred, lie far beyond all others.
struct FeatureWithOutliers {
  std::size_t feature;
  double min, max;         // of all values
  double usual_deviation;  // of the others
};

// What the choice looks at, of the training part alone.
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

// A setting with its value, as after --set, and the reason in words. Choices made for one reason
// follow one another.
struct SettingChoice {
  std::string key, value, why;
  bool given = false;  // not chosen: an assignment said so
};

struct FittedSettings {
  Config config;
  DataFacts facts;
  std::vector<SettingChoice> choices;
  std::vector<std::string> notes;  // what in the data deserves a word
};

// `given`: assignments as of --set ("model.hidden=64"), which hold whatever the data say; the rest
// is chosen beside them. Throws Error for an assignment that is none, and where the data cannot be
// learnt from with any settings, as a single series.
FittedSettings fit_settings(const Dataset& data, std::span<const std::string> given = {});

// Epochs without a better validation after which a run of so many ends.
std::int64_t usual_patience(std::int64_t epochs);

// As a file for --config: every setting, with its meaning and, where it was chosen, the reason.
std::string commented_toml(const FittedSettings& fitted);

}  // namespace edict
