#include "data/summary.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "data/moments.h"

namespace edict {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double median(std::vector<double>& values) {
  if (values.empty()) return kUnknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*std::max_element(values.begin(), middle) + *middle);
}

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Uses of each index, and how many are none.
std::vector<std::size_t> count_uses(std::span<const std::int32_t> uses, std::size_t names,
                                    std::size_t& none) {
  std::vector<std::size_t> counts(names);
  for (const std::int32_t use : uses)
    ++(use == Dataset::kNone ? none : counts[static_cast<std::size_t>(use)]);
  return counts;
}

void summarise_times(const Dataset& dataset, Summary& summary) {
  summary.first_time = summary.last_time = kUnknown;
  std::vector<double> gaps;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    if (dataset.events(i) == 0) {
      ++summary.empty_series;
      continue;
    }
    const double* const first = dataset.times.data() + dataset.first_event[i];
    const double* const last = dataset.times.data() + dataset.first_event[i + 1];
    summary.first_time = std::fmin(summary.first_time, *first);
    summary.last_time = std::fmax(summary.last_time, *(last - 1));
    for (const double* time = first + 1; time < last; ++time) gaps.push_back(*time - *(time - 1));
  }
  summary.median_gap = median(gaps);
}

}  // namespace

Summary summarise(const Dataset& dataset) {
  Summary summary;
  summary.series = dataset.size();
  summary.events = dataset.events();
  summary.observations = dataset.observations();
  summary.events_per_series = share(summary.events, summary.series);
  summarise_times(dataset, summary);

  const auto features = moments_of(dataset.features.size(), [&](auto visit) {
    for (std::size_t o = 0; o < dataset.observations(); ++o)
      visit(static_cast<std::size_t>(dataset.feature[o]), dataset.value[o]);
  });
  for (const Moments& m : features)
    summary.features.push_back(
        {m.count, share(summary.events - m.count, summary.events), m.mean, m.std, m.min, m.max});

  std::vector<std::size_t> all(dataset.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto statics = moments_of(dataset.statics.size(),
                                  [&](auto visit) { each_known_static(dataset, all, visit); });
  for (const Moments& m : statics)
    summary.statics.push_back({share(summary.series - m.count, summary.series), m.mean, m.std});

  summary.class_counts = count_uses(dataset.labels, dataset.classes.size(), summary.unlabelled);
  summary.group_counts = count_uses(dataset.group_of, dataset.groups.size(), summary.ungrouped);
  return summary;
}

}  // namespace edict
