// What is in a dataset, in numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "data/dataset.h"

namespace edict {

// Of a feature; mean to max are NaN where count is 0, std (of the population) likewise.
struct FeatureSummary {
  std::size_t count = 0;
  double missing = 0.0;  // share of the events without it
  double mean, std, min, max;
};

// Of a static covariate.
struct StaticSummary {
  double missing = 0.0;  // share of the series without it
  double mean, std;      // NaN where never known
};

struct Summary {
  std::size_t series = 0, events = 0, observations = 0;
  std::size_t empty_series = 0;  // without any event
  double events_per_series = 0.0;
  double first_time, last_time;  // NaN without events
  double median_gap;             // between neighbouring events of a series; NaN without gaps
  std::vector<FeatureSummary> features;
  std::vector<StaticSummary> statics;
  std::vector<std::size_t> class_counts;  // series a class
  std::size_t unlabelled = 0;
  std::vector<std::size_t> group_counts;  // series a group
  std::size_t ungrouped = 0;
};

Summary summarise(const Dataset& dataset);

}  // namespace edict
