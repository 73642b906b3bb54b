#include "data/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text/lower_case.h"
#include "data/name_listing.h"

namespace edict {
namespace {

// Where each name of `names` stands in `among`, or kNone.
std::vector<std::int32_t> places(const std::vector<std::string>& names,
                                 const std::vector<std::string>& among) {
  std::unordered_map<std::string_view, std::int32_t> place;
  for (std::size_t i = 0; i < among.size(); ++i)
    place.emplace(among[i], static_cast<std::int32_t>(i));
  std::vector<std::int32_t> result;
  for (const std::string& name : names) {
    const auto found = place.find(name);
    result.push_back(found == place.end() ? Dataset::kNone : found->second);
  }
  return result;
}

// Tells which names of `names` have no place.
void note_missing(const std::vector<std::string>& names, const std::vector<std::int32_t>& place,
                  const char* what, std::vector<std::string>& notes) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (place[i] == Dataset::kNone) missing.push_back(names[i]);
  if (!missing.empty()) notes.push_back(fmt::format(fmt::runtime(what), name_listing(missing)));
}

// Names of the data that differ from one of the model's in their case alone become that, where no
// other name could be meant.
void rename_in_any_case(std::vector<std::string>& names, const std::vector<std::string>& known,
                        std::vector<std::string>& notes) {
  // Those that have no equal on the other side, by how they read in lower case.
  const auto alone = [](const std::vector<std::string>& list,
                        const std::vector<std::string>& others) {
    std::unordered_map<std::string, std::vector<std::size_t>> found;
    const auto place = places(list, others);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (place[i] == Dataset::kNone) found[in_lower_case(list[i])].push_back(i);
    return found;
  };
  const auto wanted = alone(known, names), given = alone(names, known);
  std::string renamed;
  for (std::size_t k = 0; k < known.size(); ++k) {
    const auto one = wanted.find(in_lower_case(known[k]));
    if (one == wanted.end() || one->second != std::vector{k}) continue;
    const auto other = given.find(one->first);
    if (other == given.end() || other->second.size() != 1) continue;
    std::string& name = names[other->second[0]];
    renamed += fmt::format("{}'{}' as '{}'", renamed.empty() ? "" : ", ", name, known[k]);
    name = known[k];
  }
  if (!renamed.empty()) notes.push_back("taken as the model's in spite of their case: " + renamed);
}

void take_features(Dataset& data, const std::vector<std::int32_t>& new_index) {
  std::vector<std::size_t> first_event{0}, first_observation{0};
  std::vector<double> times, values;
  std::vector<std::int32_t> features;
  std::vector<Observation> event;
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e) {
      event.clear();
      for (const Observation& o : data.observed(e))
        if (const std::int32_t index = new_index[static_cast<std::size_t>(o.feature)];
            index != Dataset::kNone)
          event.push_back({index, o.value});
      if (event.empty()) continue;
      std::sort(event.begin(), event.end(),
                [](const Observation& a, const Observation& b) { return a.feature < b.feature; });
      for (const Observation& o : event) {
        features.push_back(o.feature);
        values.push_back(o.value);
      }
      times.push_back(data.times[e]);
      first_observation.push_back(values.size());
    }
    first_event.push_back(times.size());
  }
  data.first_event = std::move(first_event);
  data.times = std::move(times);
  data.first_observation = std::move(first_observation);
  data.feature = std::move(features);
  data.value = std::move(values);
}

void take_statics(Dataset& data, const std::vector<std::int32_t>& place) {
  std::vector<double> values;
  values.reserve(data.size() * place.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    for (const std::int32_t from : place)
      values.push_back(from == Dataset::kNone ? std::numeric_limits<double>::quiet_NaN()
                                              : data.covariates(i)[static_cast<std::size_t>(from)]);
  data.static_values = std::move(values);
}

}  // namespace

MatchedData match_columns(Dataset data, const std::vector<std::string>& features,
                          const std::vector<std::string>& statics) {
  MatchedData result;
  if (data.features != features) rename_in_any_case(data.features, features, result.notes);
  if (data.statics != statics) rename_in_any_case(data.statics, statics, result.notes);
  if (data.features != features) {
    const auto place = places(features, data.features), new_index = places(data.features, features);
    if (std::all_of(place.begin(), place.end(), [](auto i) { return i == Dataset::kNone; }))
      throw Error(
          fmt::format("none of the model's features {} is among the data's {}; give data with the "
                      "columns that it was trained on",
                      name_listing(features), name_listing(data.features)));
    note_missing(data.features, new_index, "ignored, as the model does not know them: {}",
                 result.notes);
    note_missing(features, place, "never observed, as the data do not have them: {}", result.notes);
    take_features(data, new_index);
    data.features = features;
  }
  if (data.statics != statics) {
    const auto place = places(statics, data.statics);
    note_missing(data.statics, places(data.statics, statics),
                 "static covariates ignored, as the model does not know them: {}", result.notes);
    note_missing(statics, place, "static covariates missing in the data: {}", result.notes);
    take_statics(data, place);
    data.statics = statics;
  }
  result.data = std::move(data);
  return result;
}

}  // namespace edict
