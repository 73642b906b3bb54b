#include "data/dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/error.h"

namespace edict {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error("dataset: " + what); }

// Index into names, or kNone.
bool refers(std::int32_t index, const std::vector<std::string>& names) {
  return index >= Dataset::kNone && index < static_cast<std::int64_t>(names.size());
}

void check_ascending(std::span<const std::size_t> first, std::size_t entries, std::size_t end,
                     const char* what) {
  if (first.size() != entries + 1 || first.front() != 0 || first.back() != end ||
      !std::is_sorted(first.begin(), first.end()))
    refuse(fmt::format("its {} do not divide the array they point into", what));
}

}  // namespace

void Dataset::add_series(std::string id, std::int32_t label, std::int32_t group,
                         std::span<const double> covariates) {
  if (!covariates.empty() && covariates.size() != statics.size())
    refuse(fmt::format("series {} has {} covariates where {} are named", id, covariates.size(),
                       statics.size()));
  ids.push_back(std::move(id));
  labels.push_back(label);
  group_of.push_back(group);
  static_values.append(covariates.begin(), covariates.end());
  static_values.resize(ids.size() * statics.size(), std::numeric_limits<double>::quiet_NaN());
  first_event.push_back(times.size());
  if (!time_axis.origin.empty() && time_axis.origin.size() < ids.size())
    time_axis.origin.resize(ids.size(), std::numeric_limits<double>::quiet_NaN());
}

void Dataset::add_event(double time) {
  if (ids.empty()) refuse("an event before the first series; add the series first");
  if (!std::isfinite(time)) refuse(fmt::format("series {}: a time is not finite", ids.back()));
  if (first_event[ids.size() - 1] < times.size() && !(times.back() < time))
    refuse(fmt::format("series {}: time {} comes after {}; add events in order of time, each once",
                       ids.back(), time, times.back()));
  times.push_back(time);
  first_event.back() = times.size();
  first_observation.push_back(value.size());
}

void Dataset::add_observation(std::int32_t feature_index, double observed_value) {
  if (times.empty()) refuse("an observation before the first event; add the event first");
  if (feature_index < 0 || feature_index >= static_cast<std::int64_t>(features.size()))
    refuse(fmt::format("series {}: there is no feature {}; {} are named", ids.back(), feature_index,
                       features.size()));
  if (first_observation[times.size() - 1] < value.size() && !(feature.back() < feature_index))
    refuse(
        fmt::format("series {}, time {}: feature '{}' comes after '{}'; add the observations of "
                    "an event in the order of the features, each once",
                    ids.back(), times.back(), features[static_cast<std::size_t>(feature_index)],
                    features[static_cast<std::size_t>(feature.back())]));
  if (!std::isfinite(observed_value))
    refuse(fmt::format("series {}, time {}: the value of '{}' is not finite", ids.back(),
                       times.back(), features[static_cast<std::size_t>(feature_index)]));
  feature.push_back(feature_index);
  value.push_back(observed_value);
  first_observation.back() = value.size();
}

void Dataset::check() const {
  if (labels.size() != size() || group_of.size() != size() ||
      static_values.size() != size() * statics.size() || feature.size() != value.size())
    refuse("its arrays have different lengths");
  if (!time_axis.origin.empty() && time_axis.origin.size() != size())
    refuse("its time axis does not know where each of its series begins");
  if (!continues.empty() && (continues.size() != size() || continues_previous(0)))
    refuse("it does not say of each of its series whether it continues another");
  check_ascending(first_event, size(), times.size(), "first events");
  check_ascending(first_observation, times.size(), value.size(), "first observations");
  // Ids in order are each there once, which needs no list of them.
  const bool in_order =
      std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
  std::unordered_set<std::string_view> known;
  if (!in_order) known.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (!in_order && !known.insert(ids[i]).second)
      refuse(fmt::format("series {} is there twice", ids[i]));
    if (!refers(labels[i], classes) || !refers(group_of[i], groups))
      refuse(fmt::format("series {}: its label or group is not among the names", ids[i]));
    for (std::size_t e = first_event[i]; e < first_event[i + 1]; ++e) {
      if (!std::isfinite(times[e]) || (e > first_event[i] && !(times[e - 1] < times[e])))
        refuse(fmt::format("series {}: its times are not finite and ascending at {}", ids[i],
                           times[e]));
      std::int32_t before = -1;
      for (const Observation& o : observed(e)) {
        if (o.feature <= before || o.feature >= static_cast<std::int64_t>(features.size()))
          refuse(fmt::format("series {}, time {}: its features are not ascending indices of names",
                             ids[i], times[e]));
        if (!std::isfinite(o.value))
          refuse(fmt::format("series {}, time {}: the value of '{}' is not finite", ids[i],
                             times[e], features[static_cast<std::size_t>(o.feature)]));
        before = o.feature;
      }
    }
  }
}

void Dataset::read_ahead(std::span<const std::size_t> series) const {
  if (!value.is_view()) return;
  times.expect_random_order();
  first_observation.expect_random_order();
  feature.expect_random_order();
  value.expect_random_order();
  for (const std::size_t i : series) {
    times.read_ahead(first_event[i], first_event[i + 1]);
    first_observation.read_ahead(first_event[i], first_event[i + 1] + 1);
  }
  // Where the observations stand is told by what is being read by now.
  for (const std::size_t i : series) {
    const std::size_t from = first_observation[first_event[i]];
    const std::size_t to = first_observation[first_event[i + 1]];
    feature.read_ahead(from, to);
    value.read_ahead(from, to);
  }
}

}  // namespace edict
