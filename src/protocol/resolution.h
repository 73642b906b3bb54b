// How finely a feature is measured: a predictive scale below that has no meaning, and a likelihood
// that rewards it would dominate the other features.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "protocol/standardise.h"

namespace edict {

struct Resolution {
  // The least scale of each feature in standardised units:
  //   a share of the step between its distinct values, where it is rounded to some;
  //   at least a tenth of its deviation, where most values repeat the one before: a sharper density
  //   would pay for each repeat more than everything else is worth;
  //   0, no bound, where neither holds.
  std::vector<double> least_scale;
  // Features that hardly ever change: there is nothing to learn of them but their last value.
  std::vector<std::size_t> unchanging;
  // Features that nearly always have one value and return to it at once, as the dose of a drug:
  // their mean forecasts them better than their last value.
  std::vector<std::size_t> sporadic;
};

// From the listed series.
Resolution find_resolution(const Dataset& data, std::span<const std::size_t> series,
                           const Standardisation& standardisation);

}  // namespace edict
