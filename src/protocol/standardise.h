// Zero mean and unit variance per feature, fitted on the series and times a model may see.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace edict {

// standardised = (raw − mean) / scale. A feature without variance has scale 1, one that was never
// observed also mean 0. Variances are those of the population (divided by n).
struct Standardisation {
  std::vector<double> mean, scale;                  // one entry a feature
  std::vector<double> statics_mean, statics_scale;  // one entry a static covariate

  double to_standard(std::size_t feature, double raw) const {
    return (raw - mean[feature]) / scale[feature];
  }
  double to_raw(std::size_t feature, double standard) const {
    return mean[feature] + scale[feature] * standard;
  }
};

nlohmann::json to_json(const Standardisation& z);
// Throws nlohmann's exception where it is not what to_json writes.
Standardisation standardisation_from_json(const nlohmann::json& json);

// Until when a series counts: a time for all of them (+∞: all they have), or one for each.
class Until {
 public:
  Until(double time) : of_([time](std::size_t) { return time; }) {}  // NOLINT: a time is one
  template <class F>
  requires std::invocable<F, std::size_t> Until(F of) : of_(std::move(of)) {}  // NOLINT
  double operator()(std::size_t series) const { return of_(series); }

 private:
  std::function<double(std::size_t series)> of_;
};

// Over observations of the listed series with time < until(series). A value that lies more than 30
// robust deviations from a feature's median counts as one that lies just there. Throws Error for a
// feature that varies by less than 1e-100 or more than 1e100: variances in its unit would not be
// finite numbers above 0.
Standardisation fit_standardisation(const Dataset& dataset, std::span<const std::size_t> series,
                                    const Until& until);

// Indices of the features the fit above saw no observation of.
std::vector<std::size_t> never_observed(const Dataset& dataset, std::span<const std::size_t> series,
                                        const Until& until);

}  // namespace edict
