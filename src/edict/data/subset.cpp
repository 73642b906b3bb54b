#include "edict/data/subset.h"

namespace edict {

Dataset subset(const Dataset& data, std::span<const std::size_t> series, double until) {
  Dataset result;
  result.features = data.features;
  result.statics = data.statics;
  result.classes = data.classes;
  result.groups = data.groups;
  result.reading = data.reading;
  for (const std::size_t i : series) {
    result.add_series(data.ids[i], data.labels[i], data.group_of[i], data.covariates(i));
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e) {
      if (!(data.times[e] < until)) break;
      result.add_event(data.times[e]);
      for (const Observation& o : data.observed(e)) result.add_observation(o.feature, o.value);
    }
  }
  result.time_axis = data.time_axis.subset(series);
  return result;
}

}  // namespace edict
