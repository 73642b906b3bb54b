// The order statistic at a share of the way from the least value to the greatest; of two middle
// values the median is the greater.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace edict {

// `values` must not be empty.
template <class T>
T quantile(std::vector<T> values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(
                                       std::ceil(share * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

template <class T>
T median(std::vector<T> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace edict
