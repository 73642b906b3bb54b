#include "edict/data/dataset.h"

#include <utility>

namespace edict {

void Dataset::add_series(std::string id, std::int32_t label, std::int32_t group,
                         std::span<const double> covariates) {
  ids.push_back(std::move(id));
  labels.push_back(label);
  group_of.push_back(group);
  static_values.insert(static_values.end(), covariates.begin(), covariates.end());
  first_event.push_back(times.size());
}

void Dataset::add_event(double time) {
  times.push_back(time);
  first_event.back() = times.size();
  first_observation.push_back(observations.size());
}

void Dataset::add_observation(std::int32_t feature, double value) {
  observations.push_back({feature, value});
  first_observation.back() = observations.size();
}

}  // namespace edict
