#include "edict/protocol/resolution.h"

#include <algorithm>
#include <cmath>

namespace edict {
namespace {

// A uniform error of one step has a deviation of 0.29 steps.
constexpr double kShare = 0.3;
constexpr std::size_t kMostValues = 100'000;  // looked at, of a feature

struct Values {
  std::vector<double> all, changes;  // changes that are none are left out
  std::size_t repeats = 0;
};

// The step of values that are rounded to a grid; 0 where most are different.
double step_of(std::vector<double> values) {
  const auto count = values.size();
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() < 2 || 2 * values.size() > count) return 0;
  double least = values.back() - values.front();
  for (std::size_t k = 1; k < values.size(); ++k)
    least = std::min(least, values[k] - values[k - 1]);
  return least;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<double> least_scales(const Dataset& data, std::span<const std::size_t> series,
                                 const Standardisation& standardisation) {
  const std::size_t features = data.features.size();
  std::vector<Values> found(features);
  std::vector<double> before(features);
  std::vector<std::size_t> seen_in(features, data.size());
  for (const std::size_t i : series)
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e)
      for (const Observation& o : data.observed(e)) {
        const auto j = static_cast<std::size_t>(o.feature);
        Values& own = found[j];
        if (own.all.size() == kMostValues) continue;
        own.all.push_back(o.value);
        if (seen_in[j] == i && before[j] == o.value) ++own.repeats;
        if (seen_in[j] == i && before[j] != o.value)
          own.changes.push_back(std::abs(o.value - before[j]));
        before[j] = o.value;
        seen_in[j] = i;
      }
  std::vector<double> least(features, 0.0);
  for (std::size_t j = 0; j < features; ++j) {
    const Values& own = found[j];
    if (own.all.empty()) continue;
    const double unit = standardisation.scale[j];
    if (own.changes.empty()) {
      least[j] = kShare;
    } else {
      least[j] = kShare * step_of(own.all) / unit;
      if (own.repeats > own.changes.size())
        least[j] = std::max(least[j], kShare * median(own.changes) / unit);
    }
  }
  return least;
}

}  // namespace edict
