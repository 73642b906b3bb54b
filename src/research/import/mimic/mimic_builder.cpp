#include "research/import/mimic/mimic_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "research/import/download.h"
#include "research/import/mimic/mimic_variables.h"

namespace edict {
namespace {

constexpr double kMostMissing = 0.95;
constexpr double kMaskedAge = 200.0, kOldest = 90.0;

}  // namespace

double unmasked_age(double age) { return age >= kMaskedAge ? kOldest : age; }

MimicBuilder::MimicBuilder(std::vector<std::string> features, const MimicPatients& patients,
                           const MimicWindow& window, std::string where)
    : patients_(patients), window_(window), where_(std::move(where)) {
  for (std::string& name : features)
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  column_of_.resize(features.size());
  std::iota(column_of_.begin(), column_of_.end(), std::size_t{0});
  std::sort(column_of_.begin(), column_of_.end(),
            [&](std::size_t a, std::size_t b) { return features[a] < features[b]; });
  std::sort(features.begin(), features.end());
  for (const std::string& name : features)
    variables_.push_back({mimic_range(name), mimic_slip(name)});
  const auto twice = std::adjacent_find(features.begin(), features.end());
  if (twice != features.end())
    throw Error(
        fmt::format("{}: has two columns '{}'; write it with MIMIC-Extract again", where_, *twice));
  if (features.empty())
    throw Error(fmt::format("{}: has no columns of hourly means; write it with MIMIC-Extract again",
                            where_));
  dataset_.features = std::move(features);
  dataset_.statics = {"age", "male"};
  dataset_.classes = {"0", "1"};
}

void MimicBuilder::add_row(std::int64_t stay, double hour, std::span<const double> values) {
  if (all_rows_ == 0 || stay != stay_) {
    end_stay();
    stay_ = stay;
    if (!seen_.insert(stay).second)
      throw Error(
          fmt::format("{}: the rows of stay {} are not together or there twice; sort them "
                      "by icustay_id and hours_in, without repetitions",
                      where_, stay));
  }
  ++all_rows_;
  if (!rows_.empty() && hour == rows_.back().hour) {
    ++repeated_;
    return;
  }
  if (!std::isfinite(hour) || (!rows_.empty() && hour < rows_.back().hour))
    throw Error(
        fmt::format("{}: hours_in of stay {} is {} after {}; sort the rows by icustay_id "
                    "and hours_in",
                    where_, stay, hour, rows_.empty() ? 0.0 : rows_.back().hour));
  rows_.push_back({hour, values_.size()});
  for (std::size_t f = 0; f < values.size(); ++f) {
    double value = values[column_of_[f]];
    if (std::isnan(value)) continue;
    Variable& variable = variables_[f];
    ++variable.read;
    if (variable.slip && variable.slip->matches(value)) {
      value = variable.slip->repaired(value);
      ++variable.repaired;
    }
    if (variable.range ? variable.range->holds(value) : std::isfinite(value))
      values_.push_back({static_cast<std::int32_t>(f), value});
    else
      ++variable.removed;
  }
}

void MimicBuilder::end_stay() {
  if (!rows_.empty() && rows_.back().hour + 1.0 < window_.shortest_stay) {
    ++short_stays_;
  } else if (!rows_.empty()) {
    const auto patient = patients_.find(stay_);
    const bool known = patient != patients_.end();
    const std::array<double, 2> statics{known ? patient->second.age : kNaN,
                                        known ? patient->second.male : kNaN};
    dataset_.add_series(std::to_string(stay_), known ? patient->second.died : Dataset::kNone,
                        Dataset::kNone, statics);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (rows_[r].hour >= window_.hours) {
        outside_ += rows_.size() - r;
        break;
      }
      ++kept_rows_;
      const std::size_t end = r + 1 < rows_.size() ? rows_[r + 1].first : values_.size();
      if (rows_[r].first == end) continue;
      dataset_.add_event(rows_[r].hour);
      for (std::size_t i = rows_[r].first; i < end; ++i) {
        dataset_.add_observation(values_[i].feature, values_[i].value);
        ++variables_[static_cast<std::size_t>(values_[i].feature)].kept;
      }
    }
  }
  rows_.clear();
  values_.clear();
}

// In place: the dataset may be most of the memory there is.
void MimicBuilder::drop_features(const std::vector<std::int32_t>& new_index) {
  Dataset& d = dataset_;
  std::size_t series = 0, event = 0, observation = 0, old_event = 0, old_observation = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const std::size_t old_end = d.first_event[i + 1], first_event = event;
    for (; old_event < old_end; ++old_event) {
      const std::size_t old_last = d.first_observation[old_event + 1], first = observation;
      for (; old_observation < old_last; ++old_observation) {
        const std::int32_t feature =
            new_index[static_cast<std::size_t>(d.feature[old_observation])];
        if (feature < 0) continue;
        d.feature[observation] = feature;
        d.value[observation++] = d.value[old_observation];
      }
      if (observation == first) continue;
      d.times[event++] = d.times[old_event];
      d.first_observation[event] = observation;
    }
    if (event == first_event) continue;
    if (series != i) d.ids[series] = std::move(d.ids[i]);
    d.labels[series] = d.labels[i];
    d.group_of[series] = d.group_of[i];
    std::vector<double>& statics = d.static_values.edit();
    std::copy_n(statics.begin() + static_cast<std::ptrdiff_t>(i * d.statics.size()),
                d.statics.size(),
                statics.begin() + static_cast<std::ptrdiff_t>(series * d.statics.size()));
    d.first_event[++series] = event;
  }
  d.ids.resize(series);
  d.labels.resize(series);
  d.group_of.resize(series);
  d.static_values.resize(series * d.statics.size());
  d.first_event.resize(series + 1);
  d.times.resize(event);
  d.first_observation.resize(event + 1);
  d.feature.resize(observation);
  d.value.resize(observation);
}

void MimicBuilder::drop_rare_features(ImportReport& report) {
  std::vector<std::int32_t> new_index;
  std::vector<std::string> kept;
  std::string dropped;
  for (std::size_t f = 0; f < variables_.size(); ++f) {
    const double missing =
        1.0 - static_cast<double>(variables_[f].kept) / static_cast<double>(kept_rows_);
    const bool rare = missing > kMostMissing;
    new_index.push_back(rare ? -1 : static_cast<std::int32_t>(kept.size()));
    if (rare)
      dropped += (dropped.empty() ? "" : ", ") + dataset_.features[f];
    else
      kept.push_back(dataset_.features[f]);
  }
  const std::size_t rare = variables_.size() - kept.size();
  if (rare > 0)
    report.add("dropped",
               fmt::format("{} of {} features, missing in more than {:g} % of the hours: {}", rare,
                           variables_.size(), 100 * kMostMissing, dropped));
  if (kept.empty())
    throw Error(
        fmt::format("{}: every feature is missing in more than {:g} % of the rows; check "
                    "that these are the hourly means",
                    where_, 100 * kMostMissing));
  const std::size_t stays = dataset_.size();
  drop_features(new_index);
  dataset_.features = std::move(kept);
  dataset_.check();
  if (stays > dataset_.size())
    report.add("dropped",
               fmt::format("{} stays without any value", grouped(stays - dataset_.size())));
}

Dataset MimicBuilder::finish(ImportReport& report) {
  end_stay();
  report.add("read", fmt::format("{} hours of {} stays, {} variables", grouped(all_rows_),
                                 grouped(seen_.size()), variables_.size()));
  if (short_stays_ > 0)
    report.add("dropped", fmt::format("{} stays shorter than {:g} hours", grouped(short_stays_),
                                      window_.shortest_stay));
  if (outside_ > 0)
    report.add("dropped",
               fmt::format("{} rows from hour {:g} on", grouped(outside_), window_.hours));
  if (repeated_ > 0)
    report.add("dropped", fmt::format("{} rows that repeat an hour", grouped(repeated_)));
  if (kept_rows_ == 0)
    throw Error(
        fmt::format("{}: no rows are left; check the file and the requested window", where_));
  for (std::size_t f = 0; f < variables_.size(); ++f) {
    const Variable& variable = variables_[f];
    if (variable.repaired > 0)
      report.add("repaired", fmt::format("{}: {} values in another unit", dataset_.features[f],
                                         grouped(variable.repaired)));
    if (variable.removed > 0)
      report.add(
          "removed",
          fmt::format("{}: {} of {} values {}", dataset_.features[f], grouped(variable.removed),
                      grouped(variable.read),
                      variable.range ? fmt::format("outside {:g} to {:g} {}", variable.range->low,
                                                   variable.range->high, variable.range->unit)
                                     : "that are infinite"));
  }
  drop_rare_features(report);
  const auto count = [&](std::int32_t label) {
    return static_cast<std::size_t>(
        std::count(dataset_.labels.begin(), dataset_.labels.end(), label));
  };
  if (count(Dataset::kNone) > 0)
    report.add("kept", fmt::format("{} stays without an outcome, so without label",
                                   grouped(count(Dataset::kNone))));
  report.add("kept", fmt::format("{} stays, {} of them ending in death; {} values in {} hours",
                                 grouped(dataset_.size()), grouped(count(1)),
                                 grouped(dataset_.observations()), grouped(dataset_.events())));
  return std::move(dataset_);
}

}  // namespace edict
