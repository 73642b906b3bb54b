// Mean and variance of values far from zero or of any size: two passes in extended precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "edict/data/dataset.h"

namespace edict {

struct Moments {
  std::size_t count = 0;
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double mean = std::numeric_limits<double>::quiet_NaN();
  double std = std::numeric_limits<double>::quiet_NaN();  // of the population
};

// `each(visit)` calls visit(entry, value) for every value, the same ones each time it is called.
// Extended precision also has the range to square the largest double.
template <class Each>
std::vector<Moments> moments_of(std::size_t entries, Each each) {
  std::vector<Moments> moments(entries);
  std::vector<long double> sum(entries), squares(entries);
  each([&](std::size_t entry, double value) {
    Moments& m = moments[entry];
    m.min = m.count == 0 ? value : std::min(m.min, value);
    m.max = m.count == 0 ? value : std::max(m.max, value);
    ++m.count;
    sum[entry] += value;
  });
  for (std::size_t i = 0; i < entries; ++i)
    if (moments[i].count > 0) sum[i] /= static_cast<long double>(moments[i].count);
  each([&](std::size_t entry, double value) {
    const long double deviation = value - sum[entry];
    squares[entry] += deviation * deviation;
  });
  for (std::size_t i = 0; i < entries; ++i) {
    Moments& m = moments[i];
    if (m.count == 0) continue;
    const bool constant = m.min == m.max;  // rounding of the mean must not pass for variance
    m.mean = constant ? m.min : static_cast<double>(sum[i]);
    m.std = constant
                ? 0.0
                : static_cast<double>(std::sqrt(squares[i] / static_cast<long double>(m.count)));
  }
  return moments;
}

// visit(covariate, value) for the known static covariates of the listed series.
template <class Series, class Visit>
void each_known_static(const Dataset& dataset, const Series& series, Visit visit) {
  for (const std::size_t i : series)
    for (std::size_t s = 0; s < dataset.statics.size(); ++s)
      if (const double value = dataset.covariates(i)[s]; !std::isnan(value)) visit(s, value);
}

}  // namespace edict
