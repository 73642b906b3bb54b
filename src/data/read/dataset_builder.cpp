#include "data/read/dataset_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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
  if (times_.size() == std::numeric_limits<std::uint32_t>::max())
    refuse("more than 2^32 rows; divide them into several datasets");
  series_.push_back(static_cast<std::int32_t>(series));
  times_.push_back(time);
  first_.push_back(value_.size());
}

// Of the last row.
void DatasetBuilder::add_value(std::int32_t feature, double value) {
  feature_.push_back(feature);
  value_.push_back(value);
  first_.back() = value_.size();
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
      add_value(static_cast<std::int32_t>(j), value);
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
    const bool same = !times_.empty() && series_.back() == series[r] && times_.back() == times[r];
    if (!same) add_row(series[r], times[r]);
    add_value(features[r], values[r]);
  }
}

// The rows by series and time; equals in the order in which they came.
std::vector<std::uint32_t> DatasetBuilder::rows_in_order() const {
  std::vector<std::size_t> next(data_.size() + 1);
  for (const std::int32_t series : series_) ++next[static_cast<std::size_t>(series) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> order(times_.size());
  for (std::size_t r = 0; r < times_.size(); ++r)
    order[next[static_cast<std::size_t>(series_[r])]++] = static_cast<std::uint32_t>(r);
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return times_[a] < times_[b]; };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const auto from = order.begin() + static_cast<std::ptrdiff_t>(begin),
               to = order.begin() + static_cast<std::ptrdiff_t>(next[i]);
    if (!std::is_sorted(from, to, earlier)) std::stable_sort(from, to, earlier);
    begin = next[i];
  }
  return order;
}

// Rows of one series and one time, as an event.
void DatasetBuilder::append_event(std::span<const std::uint32_t> rows, Duplicates duplicates) {
  const auto by_feature = [](const Observation& a, const Observation& b) {
    return a.feature < b.feature;
  };
  event_.clear();
  for (const std::uint32_t r : rows)
    for (std::size_t k = first_[r]; k < first_[r + 1]; ++k)
      event_.push_back({feature_[k], value_[k]});
  if (!std::is_sorted(event_.begin(), event_.end(), by_feature))
    std::stable_sort(event_.begin(), event_.end(), by_feature);
  data_.times.push_back(times_[rows.front()]);
  for (std::size_t k = 0; k < event_.size();) {
    std::size_t end = k + 1;
    bool equal = true;
    long double sum = event_[k].value;
    for (; end < event_.size() && event_[end].feature == event_[k].feature; ++end) {
      equal &= event_[end].value == event_[k].value;
      sum += event_[end].value;
    }
    double value = event_[k].value;
    if (!equal) switch (duplicates) {
        case Duplicates::refuse:
          refuse(fmt::format(
              "series {}, time {}: '{}' is {} and {}; correct them, or give {}, first or last",
              data_.ids[static_cast<std::size_t>(series_[rows.front()])], data_.times.back(),
              data_.features[static_cast<std::size_t>(event_[k].feature)], value,
              event_[end - 1].value, option("duplicates", "mean")));
        case Duplicates::first:
          break;
        case Duplicates::last:
          value = event_[end - 1].value;
          break;
        case Duplicates::mean:
          value = static_cast<double>(sum / static_cast<long double>(end - k));
          break;
      }
    data_.feature.push_back(event_[k].feature);
    data_.value.push_back(value);
    k = end;
  }
  data_.first_observation.push_back(data_.value.size());
}

Dataset DatasetBuilder::build(Duplicates duplicates) && {
  const std::vector<std::uint32_t> order = rows_in_order();
  data_.times.reserve(times_.size());
  data_.first_observation.reserve(times_.size() + 1);
  data_.feature.reserve(value_.size());
  data_.value.reserve(value_.size());
  std::size_t begin = 0;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const auto own = [&](std::size_t k) {
      return k < order.size() && static_cast<std::size_t>(series_[order[k]]) == i;
    };
    while (own(begin)) {
      std::size_t end = begin + 1;
      while (own(end) && times_[order[end]] == times_[order[begin]]) ++end;
      append_event(std::span(order).subspan(begin, end - begin), duplicates);
      begin = end;
    }
    data_.first_event.push_back(data_.times.size());
  }
  data_.check();
  return std::move(data_);
}

}  // namespace edict
