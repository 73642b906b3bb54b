#include "protocol/standardise.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json/json.h"
#include "base/quantile.h"
#include "data/moments.h"

namespace edict {
namespace {

// visit(feature, value) for every observation that counts.
template <class Visit>
void each_value(const Dataset& dataset, std::span<const std::size_t> series, const Until& until,
                Visit visit) {
  for (const std::size_t i : series) {
    const double end = until(i);
    for (std::size_t e = dataset.first_event[i];
         e < dataset.first_event[i + 1] && dataset.times[e] < end; ++e)
      for (const Observation& observation : dataset.observed(e))
        visit(static_cast<std::size_t>(observation.feature), observation.value);
  }
}

// What a value of a feature counts as in its mean and deviation: a single value in the wrong unit
// must not widen the scale of all others.
struct Limits {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

// Within 30 deviations of the median, these measured by the median distance from it; no limits
// where most values are alike. Found from the first values of each feature.
std::vector<Limits> usual_limits(const Dataset& dataset, std::span<const std::size_t> series,
                                 const Until& until) {
  constexpr std::size_t kMostValues = 100'000, kFewestValues = 20;
  constexpr double kFarthest = 30 * 1.4826;
  std::vector<std::vector<double>> values(dataset.features.size());
  each_value(dataset, series, until, [&](std::size_t j, double value) {
    if (values[j].size() < kMostValues) values[j].push_back(value);
  });
  std::vector<Limits> limits(values.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (values[j].size() < kFewestValues) continue;
    const double centre = median(values[j]);
    for (double& value : values[j]) value = std::abs(value - centre);
    const double distance = median(values[j]);
    if (distance > 0) limits[j] = {centre - kFarthest * distance, centre + kFarthest * distance};
  }
  return limits;
}

std::vector<Moments> feature_moments(const Dataset& dataset, std::span<const std::size_t> series,
                                     const Until& until) {
  const std::vector<Limits> limits = usual_limits(dataset, series, until);
  return moments_of(dataset.features.size(), [&](auto visit) {
    each_value(dataset, series, until, [&](std::size_t j, double value) {
      visit(j, std::clamp(value, limits[j].least, limits[j].most));
    });
  });
}

constexpr double kLeastDeviation = 1e-100, kLargestDeviation = 1e100;

void take(const std::vector<Moments>& moments, const std::vector<std::string>& names,
          std::vector<double>& mean, std::vector<double>& scale) {
  for (std::size_t j = 0; j < moments.size(); ++j) {
    const Moments& m = moments[j];
    if (m.min < m.max && !(m.std >= kLeastDeviation && m.std <= kLargestDeviation))
      throw Error(fmt::format(
          "'{}' deviates by {:.3g} in the training split, between {} and {}; models reckon with "
          "deviations from {:g} to {:g}: look for a value in the wrong unit, or give all of them "
          "in another one",
          names[j], m.std, m.min, m.max, kLeastDeviation, kLargestDeviation));
    mean.push_back(m.count > 0 ? m.mean : 0.0);
    scale.push_back(m.count > 0 && m.std > 0.0 ? m.std : 1.0);
  }
}

}  // namespace

nlohmann::json to_json(const Standardisation& z) {
  return {{"mean", z.mean},
          {"scale", z.scale},
          {"statics_mean", z.statics_mean},
          {"statics_scale", z.statics_scale}};
}

Standardisation standardisation_from_json(const nlohmann::json& json) {
  return {json.at("mean"), json.at("scale"), json.at("statics_mean"), json.at("statics_scale")};
}

Standardisation fit_standardisation(const Dataset& dataset, std::span<const std::size_t> series,
                                    const Until& until) {
  Standardisation fit;
  take(feature_moments(dataset, series, until), dataset.features, fit.mean, fit.scale);
  take(moments_of(dataset.statics.size(),
                  [&](auto visit) { each_known_static(dataset, series, visit); }),
       dataset.statics, fit.statics_mean, fit.statics_scale);
  return fit;
}

std::vector<std::size_t> never_observed(const Dataset& dataset, std::span<const std::size_t> series,
                                        const Until& until) {
  const auto moments = feature_moments(dataset, series, until);
  std::vector<std::size_t> result;
  for (std::size_t f = 0; f < moments.size(); ++f)
    if (moments[f].count == 0) result.push_back(f);
  return result;
}

}  // namespace edict
