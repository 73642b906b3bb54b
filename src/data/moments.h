// Mean and variance of values far from zero or of any size, in extended precision: by two passes
// where values can be visited again, or as they come by.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "data/dataset.h"

namespace edict {

struct Moments {
  std::size_t count = 0;
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double mean = std::numeric_limits<double>::quiet_NaN();
  double std = std::numeric_limits<double>::quiet_NaN();  // of the population
};

// Of values whose count, least and largest are known. Rounding of the mean must not pass for
// variance where all are alike.
inline Moments with_mean(Moments m, long double mean, long double squares) {
  if (m.count == 0) return m;
  const bool constant = m.min == m.max;
  m.mean = constant ? m.min : static_cast<double>(mean);
  m.std =
      constant ? 0.0 : static_cast<double>(std::sqrt(squares / static_cast<long double>(m.count)));
  return m;
}

inline void count_in(double value, Moments& m) {
  m.min = m.count == 0 ? value : std::min(m.min, value);
  m.max = m.count == 0 ? value : std::max(m.max, value);
  ++m.count;
}

// `each(visit)` calls visit(entry, value) for every value, the same ones each time it is called.
// Extended precision also has the range to square the largest double.
template <class Each>
std::vector<Moments> moments_of(std::size_t entries, Each each) {
  std::vector<Moments> moments(entries);
  std::vector<long double> sum(entries), squares(entries);
  each([&](std::size_t entry, double value) {
    count_in(value, moments[entry]);
    sum[entry] += value;
  });
  for (std::size_t i = 0; i < entries; ++i)
    if (moments[i].count > 0) sum[i] /= static_cast<long double>(moments[i].count);
  each([&](std::size_t entry, double value) {
    const long double deviation = value - sum[entry];
    squares[entry] += deviation * deviation;
  });
  for (std::size_t i = 0; i < entries; ++i) moments[i] = with_mean(moments[i], sum[i], squares[i]);
  return moments;
}

// Of values that come by once, in memory that does not grow with them. The mean has the bits of
// moments_of; the squares around it are those of Youngs and Cramer (1971), which lose no more
// digits.
class RunningMoments {
 public:
  void add(double value) {
    count_in(value, seen_);
    sum_ += value;
    if (seen_.count == 1) return;
    const auto n = static_cast<long double>(seen_.count);
    const long double off = n * value - sum_;
    squares_ += off * off / (n * (n - 1));
  }

  Moments result() const {
    return with_mean(seen_, sum_ / static_cast<long double>(seen_.count), squares_);
  }

 private:
  Moments seen_;
  long double sum_ = 0, squares_ = 0;
};

// visit(covariate, value) for the known static covariates of the listed series.
template <class Series, class Visit>
void each_known_static(const Dataset& dataset, const Series& series, Visit visit) {
  for (const std::size_t i : series)
    for (std::size_t s = 0; s < dataset.statics.size(); ++s)
      if (const double value = dataset.covariates(i)[s]; !std::isnan(value)) visit(s, value);
}

}  // namespace edict
