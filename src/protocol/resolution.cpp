#include "protocol/resolution.h"

#include <algorithm>
#include <cmath>

#include "data/moments.h"

namespace edict {
namespace {

// A uniform error of one step has a deviation of 0.29 steps.
constexpr double kShare = 0.3;
constexpr std::size_t kMostValues = 100'000;  // looked at, of a feature

// Of values of which most repeat the one before, in deviations.
constexpr double kLeastOfRepeating = 0.1;
// A feature that repeats more of its values than this is not learnt: its changes are too rare to be
// forecast by a density, and would take the network's attention from the other features.
constexpr double kUnchanging = 0.85;

struct Values {
  std::vector<double> all;
  std::size_t repeats = 0, changes = 0;  // from one value of a series to the next
  double squared_changes = 0;
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

}  // namespace

Resolution find_resolution(const Dataset& data, std::span<const std::size_t> series,
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
        if (seen_in[j] == i) {
          ++(before[j] == o.value ? own.repeats : own.changes);
          own.squared_changes += (o.value - before[j]) * (o.value - before[j]);
        }
        before[j] = o.value;
        seen_in[j] = i;
      }
  Resolution result;
  result.least_scale.resize(features, 0.0);
  for (std::size_t j = 0; j < features; ++j) {
    const Values& own = found[j];
    if (own.all.empty()) continue;
    double& least = result.least_scale[j];
    least = kShare * step_of(own.all) / standardisation.scale[j];
    if (own.repeats > own.changes) least = std::max(least, kLeastOfRepeating);
    const auto pairs = static_cast<double>(own.repeats + own.changes);
    if (static_cast<double>(own.repeats) <= kUnchanging * pairs) continue;
    RunningMoments moments;
    for (const double value : own.all) moments.add(value);
    const double deviation = moments.result().std;
    const bool by_mean = own.squared_changes > pairs * deviation * deviation;
    (by_mean ? result.sporadic : result.unchanging).push_back(j);
  }
  return result;
}

}  // namespace edict
