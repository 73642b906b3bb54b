#include "data/subset.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace edict {
namespace {

constexpr std::string_view kCopy = " (copy ";

// A name for one more copy of a series, which no series of the data has.
std::string name_of_copy(const std::string& id, std::size_t& copies,
                         const std::unordered_set<std::string_view>& taken) {
  for (;;) {
    std::string name = std::string(original_id(id)).append(kCopy) + std::to_string(++copies) + ")";
    if (!taken.contains(name)) return name;
  }
}

}  // namespace

std::string_view original_id(std::string_view id) {
  const std::size_t at = id.rfind(kCopy);
  if (at == std::string_view::npos || at == 0 || !id.ends_with(')')) return id;
  const std::string_view number = id.substr(at + kCopy.size(), id.size() - at - kCopy.size() - 1);
  const bool is_number =
      !number.empty() && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? id.substr(0, at) : id;
}

Dataset subset(const Dataset& data, std::span<const std::size_t> series, double until) {
  Dataset result;
  result.features = data.features;
  result.statics = data.statics;
  result.classes = data.classes;
  result.groups = data.groups;
  result.reading = data.reading;
  std::unordered_set<std::size_t> there;
  std::unordered_map<std::string_view, std::size_t>
      copies;  // of each original, the number of the last
  std::unordered_set<std::string_view> taken;
  for (const std::size_t i : series) {
    std::string id = data.ids[i];
    if (!there.insert(i).second) {
      if (taken.empty()) taken.insert(data.ids.begin(), data.ids.end());
      std::size_t& last = copies.try_emplace(original_id(data.ids[i]), 1).first->second;
      id = name_of_copy(data.ids[i], last, taken);
    }
    result.add_series(std::move(id), data.labels[i], data.group_of[i], data.covariates(i));
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
