#include "data/read/dataset_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/text/utf8.h"
#include "data/read/csv/csv_names.h"

namespace edict {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error("dataset: " + what); }

void check_names(const std::vector<std::string>& names, const char* what) {
  std::unordered_set<std::string_view> known;
  known.reserve(names.size());
  for (const std::string& name : names) {
    if (name.empty()) refuse(fmt::format("a {} without a name; give every {} one", what, what));
    if (!valid_utf8(name)) refuse(fmt::format("the name of a {} is not UTF-8", what));
    if (!known.insert(name).second)
      refuse(fmt::format("{} '{}' is there twice; give each its own name", what, name));
  }
}

void check_places(const std::vector<std::int32_t>& of_series, std::size_t series,
                  const std::vector<std::string>& names, const char* what) {
  if (of_series.size() != series)
    refuse(fmt::format("{} {}s for {} series; give one a series", of_series.size(), what, series));
  for (const std::int32_t place : of_series)
    if (place < Dataset::kNone || place >= static_cast<std::int64_t>(names.size()))
      refuse(fmt::format("there is no {} {}; {} are named", what, place, names.size()));
}

}  // namespace

DatasetBuilder::DatasetBuilder(std::vector<std::string> ids, std::vector<std::string> features) {
  check_names(ids, "series");
  check_names(features, "feature");
  if (features.empty()) refuse("no feature is named; give at least one");
  data_.labels.assign(ids.size(), Dataset::kNone);
  data_.group_of.assign(ids.size(), Dataset::kNone);
  data_.ids = std::move(ids);
  data_.features = std::move(features);
}

void DatasetBuilder::set_labels(std::vector<std::string> names,
                                std::vector<std::int32_t> of_series) {
  check_names(names, "class");
  check_places(of_series, data_.size(), names, "label");
  sort_names(names, of_series);
  data_.classes = std::move(names);
  data_.labels = std::move(of_series);
}

void DatasetBuilder::set_groups(std::vector<std::string> names,
                                std::vector<std::int32_t> of_series) {
  check_names(names, "group");
  check_places(of_series, data_.size(), names, "group");
  sort_names(names, of_series);
  data_.groups = std::move(names);
  data_.group_of = std::move(of_series);
}

void DatasetBuilder::set_statics(std::vector<std::string> names, std::vector<double> values) {
  check_names(names, "static covariate");
  if (values.size() != names.size() * data_.size())
    refuse(fmt::format("{} values of {} static covariates for {} series; give one of each a series",
                       values.size(), names.size(), data_.size()));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (std::isinf(values[k]))
      refuse(fmt::format("series {}: the static covariate '{}' is infinite; leave it out",
                         data_.ids[k / names.size()], names[k % names.size()]));
  data_.statics = std::move(names);
  data_.static_values = std::move(values);
}

void DatasetBuilder::add_row(std::int64_t series, double time) {
  if (series < 0 || series >= static_cast<std::int64_t>(data_.size()))
    refuse(fmt::format("a row of series {}; {} are named", series, data_.size()));
  if (!std::isfinite(time))
    refuse(fmt::format("series {}: a time is missing or infinite; give every row with a value one",
                       data_.ids[static_cast<std::size_t>(series)]));
  rows_.add_row(static_cast<std::int32_t>(series), time, rows_.value.size());
}

void DatasetBuilder::add_rows(std::span<const std::int64_t> series, std::span<const double> times,
                              std::span<const Column> columns) {
  if (times.size() != series.size()) refuse("as many times as rows are needed");
  if (columns.size() != data_.features.size())
    refuse(fmt::format("{} columns where {} features are named", columns.size(),
                       data_.features.size()));
  for (std::size_t r = 0; r < series.size(); ++r) {
    bool begun = false;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double value = columns[j].first[static_cast<std::ptrdiff_t>(r) * columns[j].stride];
      if (std::isnan(value)) continue;
      if (!begun) add_row(series[r], times[r]);
      begun = true;
      rows_.add_value(static_cast<std::int32_t>(j), value);
    }
  }
}

void DatasetBuilder::add_observations(std::span<const std::int64_t> series,
                                      std::span<const double> times,
                                      std::span<const std::int32_t> features,
                                      std::span<const double> values) {
  if (times.size() != series.size() || features.size() != series.size() ||
      values.size() != series.size())
    refuse("series, times, features and values are not equally many");
  for (std::size_t r = 0; r < series.size(); ++r) {
    if (std::isnan(values[r])) continue;
    if (features[r] < 0 || features[r] >= static_cast<std::int64_t>(data_.features.size()))
      refuse(
          fmt::format("there is no feature {}; {} are named", features[r], data_.features.size()));
    // Neighbours that belong to one event become one row, which spares most of the sorting.
    const bool same =
        !rows_.times.empty() && rows_.series.back() == series[r] && rows_.times.back() == times[r];
    if (!same) add_row(series[r], times[r]);
    rows_.add_value(features[r], values[r]);
  }
}

void DatasetBuilder::refuse_conflict(const EventRows::Conflict& conflict) const {
  refuse(
      fmt::format("series {}, time {}: '{}' is {} and {}; correct them, or give {}, first or last",
                  data_.ids[static_cast<std::size_t>(conflict.series)], conflict.time,
                  data_.features[static_cast<std::size_t>(conflict.feature)], conflict.first,
                  conflict.second, option("duplicates", "mean")));
}

Dataset DatasetBuilder::build(Duplicates duplicates) && {
  const EventRows::Merged merged = rows_.merge(duplicates);
  if (merged.refused > 0) refuse_conflict(merged.conflicts.front());
  rows_.move_to(data_);
  data_.check();
  return std::move(data_);
}

}  // namespace edict
