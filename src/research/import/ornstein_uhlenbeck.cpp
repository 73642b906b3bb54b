#include "research/import/ornstein_uhlenbeck.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/generator.h"

namespace edict {

ExactPredictor::ExactPredictor(const OrnsteinUhlenbeck& process) : process_(process) {
  const double variance = process.sigma * process.sigma / (2.0 * process.theta);
  state_ = {process.level, {variance, process.correlation * variance, variance}};
}

ExactPredictor::State ExactPredictor::at(double time) const {
  const double kept = std::exp(-process_.theta * (time - time_));
  const double variance = process_.sigma * process_.sigma / (2.0 * process_.theta);
  const double fresh = 1.0 - kept * kept;
  State later = state_;
  for (std::size_t j = 0; j < 2; ++j)
    later.mean[j] = process_.level[j] + kept * (state_.mean[j] - process_.level[j]);
  const std::array<double, 3> stationary{variance, process_.correlation * variance, variance};
  for (std::size_t k = 0; k < 3; ++k)
    later.covariance[k] = kept * kept * state_.covariance[k] + fresh * stationary[k];
  return later;
}

ExactPredictor::Gaussian ExactPredictor::expected(double time, std::size_t feature) const {
  const State then = at(time);
  return {then.mean[feature], then.covariance[2 * feature] + process_.noise * process_.noise};
}

void ExactPredictor::observe(double time, const ObservationRange& observed) {
  state_ = at(time);
  time_ = time;
  // Measurement errors are independent, so one value after the other.
  for (const Observation& o : observed) {
    const auto j = static_cast<std::size_t>(o.feature);
    auto& [p11, p12, p22] = state_.covariance;
    const double variance = state_.covariance[2 * j] + process_.noise * process_.noise;
    const double to_1 = (j == 0 ? p11 : p12) / variance, to_2 = (j == 0 ? p12 : p22) / variance;
    const double error = o.value - state_.mean[j];
    state_.mean[0] += to_1 * error;
    state_.mean[1] += to_2 * error;
    const std::array<double, 3> before = state_.covariance;
    const double row_1 = j == 0 ? before[0] : before[1], row_2 = j == 0 ? before[1] : before[2];
    p11 -= to_1 * row_1;
    p12 -= to_1 * row_2;
    p22 -= to_2 * row_2;
  }
}

Dataset generate_ornstein_uhlenbeck(std::size_t series, std::uint64_t seed,
                                    const OrnsteinUhlenbeck& process) {
  Dataset data;
  data.features = {"x1", "x2"};
  const double deviation = process.sigma / std::sqrt(2.0 * process.theta);
  const double rest = std::sqrt(1.0 - process.correlation * process.correlation);
  for (std::size_t i = 0; i < series; ++i) {
    Generator random(seed, "ornstein-uhlenbeck", i);
    data.add_series(fmt::format("ou{:05}", i));
    const auto count = std::max<std::size_t>(
        2, static_cast<std::size_t>(process.events * (0.5 + random.uniform())));
    std::vector<double> times(count);
    for (double& time : times) time = process.length * random.uniform();
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    std::array<double, 2> off{};  // from the levels
    double last = 0;
    bool begun = false;
    for (const double time : times) {
      const double kept = begun ? std::exp(-process.theta * (time - last)) : 0.0;
      const double fresh = deviation * std::sqrt(1.0 - kept * kept);
      const double common = random.normal(), own = random.normal();
      off[0] = kept * off[0] + fresh * common;
      off[1] = kept * off[1] + fresh * (process.correlation * common + rest * own);
      last = time;
      begun = true;
      const bool both = random.uniform() < process.both;
      const std::size_t one = random.below(2);
      data.add_event(time);
      for (std::size_t j = 0; j < 2; ++j) {
        const double value = process.level[j] + off[j] + process.noise * random.normal();
        if (both || j == one) data.add_observation(static_cast<std::int32_t>(j), value);
      }
    }
  }
  return data;
}

}  // namespace edict
