#include "data/read/expand_texts.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/error.h"

namespace edict {
namespace {

using Kind = ColumnMeaning::Kind;

bool unchanged(const std::vector<ColumnMeaning>& meanings) {
  return std::all_of(meanings.begin(), meanings.end(),
                     [](const ColumnMeaning& m) { return m.kind == Kind::number; });
}

// The new names, and where the columns of each old one begin.
std::vector<std::string> expanded_names(const std::vector<std::string>& names,
                                        const std::vector<ColumnMeaning>& meanings,
                                        std::vector<std::size_t>& first) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    first.push_back(result.size());
    if (meanings[i].kind == Kind::number) result.push_back(names[i]);
    for (const std::string& category : meanings[i].categories)
      result.push_back(names[i] + "=" + category);
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : result)
    if (!seen.insert(name).second)
      throw Error(
          fmt::format("column '{}' and a category of another have one name; rename it", name));
  return result;
}

// What a value of an old column is in each of the new ones.
template <class Visit>
void each_column(const ColumnMeaning& meaning, std::size_t first, double value, Visit visit) {
  if (is_missing(value)) return;
  if (meaning.kind == Kind::number) visit(first, value);
  if (meaning.kind != Kind::categories) return;
  const std::int32_t category = meaning.rank[static_cast<std::size_t>(text_of(value))];
  if (category < 0) return;
  for (std::size_t k = 0; k < meaning.categories.size(); ++k)
    visit(first + k, static_cast<std::int32_t>(k) == category ? 1.0 : 0.0);
}

void expand_features(Dataset& data, const std::vector<ColumnMeaning>& meanings) {
  std::vector<std::size_t> first;
  std::vector<std::string> names = expanded_names(data.features, meanings, first);
  if (names.empty())
    throw Error(
        "no feature is left: its columns hold texts of many different values; name the "
        "columns to take with " +
        option("features"));
  std::vector<std::size_t> first_event{0}, first_observation{0};
  std::vector<double> times, values;
  std::vector<std::int32_t> features;
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e) {
      for (const Observation& o : data.observed(e)) {
        const auto f = static_cast<std::size_t>(o.feature);
        each_column(meanings[f], first[f], o.value, [&](std::size_t column, double value) {
          features.push_back(static_cast<std::int32_t>(column));
          values.push_back(value);
        });
      }
      if (values.size() == first_observation.back()) continue;  // all of it was left out
      times.push_back(data.times[e]);
      first_observation.push_back(values.size());
    }
    first_event.push_back(times.size());
  }
  data.features = std::move(names);
  data.first_event = std::move(first_event);
  data.times = std::move(times);
  data.first_observation = std::move(first_observation);
  data.feature = std::move(features);
  data.value = std::move(values);
}

void expand_statics(Dataset& data, const std::vector<ColumnMeaning>& meanings) {
  std::vector<std::size_t> first;
  std::vector<std::string> names = expanded_names(data.statics, meanings, first);
  std::vector<double> values(data.size() * names.size(), kMissing);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto old = data.covariates(i);
    for (std::size_t s = 0; s < old.size(); ++s)
      if (!is_missing(old[s]))
        each_column(meanings[s], first[s], old[s], [&](std::size_t column, double value) {
          values[i * names.size() + column] = value;
        });
  }
  data.statics = std::move(names);
  data.static_values = std::move(values);
}

}  // namespace

void expand_texts(Dataset& data, const std::vector<ColumnMeaning>& features,
                  const std::vector<ColumnMeaning>& statics, bool some_missing) {
  if (some_missing || !unchanged(features)) expand_features(data, features);
  if (!unchanged(statics)) expand_statics(data, statics);
}

}  // namespace edict
