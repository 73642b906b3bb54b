// Results: distributions at times, filled tables, class probabilities, surprises.
#ifndef EDICT_FORECAST_HPP
#define EDICT_FORECAST_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edict/general.hpp"

namespace edict {

// Of one feature at one time: a Student-t, Gaussian where dof is infinite.
struct Distribution {
  double mean, aleatoric, epistemic;  // the variances of the data's noise and of the model
  double scale, dof;

  double aleatoric_deviation() const { return std::sqrt(aleatoric); }
  double epistemic_deviation() const { return std::sqrt(epistemic); }
  double deviation() const { return std::sqrt(aleatoric + epistemic); }

  // The value that holds with probability p, 0 < p < 1.
  double quantile(double p) const {
    double x = 0;
    detail::check(edict_quantile(1, &mean, &scale, &dof, &p, &x));
    return x;
  }
  // The central interval of this level, as 0.9: its lower and upper bound.
  std::pair<double, double> interval(double level) const {
    return {quantile((1 - level) / 2), quantile((1 + level) / 2)};
  }
  double probability_below(double x) const {
    double p = 0;
    detail::check(edict_cdf(1, &mean, &scale, &dof, &x, &p));
    return p;
  }
  // By symmetry, so that a far tail keeps its digits.
  double probability_above(double x) const { return probability_below(2 * mean - x); }
};

// [series x times x features], row by row, for what is computed in one go.
struct Distributions {
  std::vector<double> mean, aleatoric, epistemic, scale, dof;

  Distributions() = default;
  explicit Distributions(std::size_t size)
      : mean(size), aleatoric(size), epistemic(size), scale(size), dof(size) {}

  std::size_t size() const { return mean.size(); }
  Distribution operator[](std::size_t i) const {
    return {mean[i], aleatoric[i], epistemic[i], scale[i], dof[i]};
  }
  std::vector<double> quantile(double p) const {
    const std::vector<double> ps(size(), p);
    std::vector<double> out(size());
    detail::check(edict_quantile(detail::count(size()), mean.data(), scale.data(), dof.data(),
                                 ps.data(), out.data()));
    return out;
  }
  std::vector<double> probability_below(double x) const {
    const std::vector<double> xs(size(), x);
    std::vector<double> out(size());
    detail::check(edict_cdf(detail::count(size()), mean.data(), scale.data(), dof.data(), xs.data(),
                            out.data()));
    return out;
  }
};

// The distribution of every feature of every series at some times.
struct Forecast {
  std::vector<std::string> ids, features;
  std::size_t times = 0;     // per series
  Distributions all;         // [ids x times x features]
  std::int64_t clipped = 0;  // observations that the guard changed

  Distribution at(std::size_t series, std::size_t time, std::size_t feature) const {
    detail::need(series < ids.size() && time < times && feature < features.size(),
                 "Forecast::at: beyond the forecast");
    return all[(series * times + time) * features.size() + feature];
  }
  Distribution at(std::size_t series, std::size_t time, std::string_view feature) const {
    const auto found = std::find(features.begin(), features.end(), feature);
    return at(series, time, static_cast<std::size_t>(found - features.begin()));
  }
};

// A table without gaps: each value as observed, else its mean; and its predictive deviation, 0
// where it was observed. [rows x features]: a row is an event, or a series at one of the times.
struct Imputation {
  std::vector<std::string> features;
  std::vector<double> values, deviations;

  double value(std::size_t row, std::size_t feature) const {
    return values.at(row * features.size() + feature);
  }
  double deviation(std::size_t row, std::size_t feature) const {
    return deviations.at(row * features.size() + feature);
  }
};

// [series x classes], or [series x times x classes].
struct ClassProbabilities {
  std::vector<std::string> classes;
  std::vector<double> values;

  double at(std::size_t row, std::size_t label) const {
    return values.at(row * classes.size() + label);
  }
  // The most probable class of a row.
  std::size_t best(std::size_t row) const {
    detail::need(!classes.empty() && (row + 1) * classes.size() <= values.size(),
                 "ClassProbabilities::best: beyond the rows");
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * classes.size());
    const auto end = begin + static_cast<std::ptrdiff_t>(classes.size());
    return static_cast<std::size_t>(std::max_element(begin, end) - begin);
  }
};

// What was expected of every observation just before it came, in the order of Dataset::arrays, and
// how surprising it was: z, its distance in deviations; log_score, minus the log density; tail, how
// often something at least as far off is to be expected.
struct Surprise {
  Distributions expected;
  std::vector<double> z, log_score, tail;
};

}  // namespace edict

#endif
