#include "learn/data_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/quantile.h"
#include "data/moments.h"
#include "protocol/protocol.h"
#include "protocol/window.h"

namespace edict {
namespace {

// Values that deviate this many times as far as all others are suspicious.
constexpr double kFarOff = 30;

// For each feature, squared differences of its values by how far apart they are: neighbours, and
// values 2, 4, … observations apart. Where their mean comes to (1 − 1/e) of twice the variance, a
// value has forgotten what it was; with the correlation e^−t/τ that is τ.
class Variogram {
 public:
  void add(double gap, double squared) {
    const auto bin = static_cast<std::ptrdiff_t>(std::floor(kBins * std::log2(gap))) - kFirst;
    if (bin < 0 || bin >= static_cast<std::ptrdiff_t>(sums_.size())) return;
    Sum& sum = sums_[static_cast<std::size_t>(bin)];
    sum.squared += squared;
    sum.log_gap += std::log(gap);
    sum.count += 1;
  }

  // 0 where nothing is known.
  double memory(double variance) const {
    const double level = (1.0 - 1.0 / std::numbers::e) * 2.0 * variance;
    const Sum* before = nullptr;
    double longest = 0;
    for (const Sum& sum : sums_) {
      if (sum.count < kFewest) continue;
      const double gap = sum.log_gap / sum.count, here = sum.squared / sum.count;
      longest = std::exp(gap);
      if (here >= level) {
        if (!before) return longest;
        const double before_gap = before->log_gap / before->count;
        const double there = before->squared / before->count;
        const double share = here > there ? (level - there) / (here - there) : 1.0;
        return std::exp(before_gap + std::clamp(share, 0.0, 1.0) * (gap - before_gap));
      }
      before = &sum;
    }
    return longest;
  }

 private:
  static constexpr double kBins = 2;              // an octave
  static constexpr std::ptrdiff_t kFirst = -256;  // of the least gap, 2^−128
  static constexpr double kFewest = 30;
  struct Sum {
    double squared = 0, log_gap = 0, count = 0;
  };
  std::vector<Sum> sums_ = std::vector<Sum>(512);
};

// How long values remember, of the feature in the middle.
double memory_of(const Dataset& data, std::span<const std::size_t> training) {
  constexpr std::size_t kMostValues = 2'000'000, kFarthest = 64;
  const std::size_t features = data.features.size();
  std::vector<Variogram> variograms(features);
  std::vector<RunningMoments> moments(features);
  std::vector<std::vector<std::pair<double, double>>> values(features);  // of a series
  std::size_t looked_at = 0;
  for (const std::size_t i : training) {
    if (looked_at > kMostValues) break;
    for (auto& own : values) own.clear();
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e)
      for (const Observation& o : data.observed(e)) {
        const auto j = static_cast<std::size_t>(o.feature);
        values[j].emplace_back(data.times[e], o.value);
        moments[j].add(o.value);
        ++looked_at;
      }
    for (std::size_t j = 0; j < features; ++j)
      for (std::size_t lag = 1; lag <= kFarthest; lag *= 2)
        for (std::size_t k = lag; k < values[j].size(); ++k) {
          const double step = values[j][k].second - values[j][k - lag].second;
          variograms[j].add(values[j][k].first - values[j][k - lag].first, step * step);
        }
  }
  std::vector<double> found;
  for (std::size_t j = 0; j < features; ++j) {
    const Moments m = moments[j].result();
    if (m.count == 0 || !(m.std > 0)) continue;
    if (const double own = variograms[j].memory(m.std * m.std); own > 0) found.push_back(own);
  }
  return found.empty() ? 0.0 : median(found);
}

// Windows that an epoch learns from.
std::size_t window_count(const Dataset& data, std::span<const std::size_t> training) {
  if (!has_long_series(data, training)) return training.size();
  std::size_t events = 0;
  for (const std::size_t i : training) events += data.events(i);
  return std::max(std::size_t{1}, events / kLearntWindow);
}

// Of each series; where they are pieces, of those of one series together.
std::vector<double> lengths_of(const Dataset& data, std::span<const std::size_t> training) {
  std::vector<double> lengths;
  for (std::size_t k = 0; k < training.size(); ++k) {
    const std::size_t i = training[k];
    const std::size_t first = data.first_event[i], end = data.first_event[i + 1];
    const double own = first == end ? 0.0 : data.times[end - 1] - data.times[first];
    const bool goes_on =
        !data.continues.empty() && k > 0 && i == training[k - 1] + 1 && data.continues_previous(i);
    if (goes_on)
      lengths.back() += own;
    else
      lengths.push_back(own);
  }
  return lengths;
}

void add_gaps(const Dataset& data, std::span<const std::size_t> training, DataFacts& facts) {
  std::vector<double> gaps;
  for (const std::size_t i : training)
    for (std::size_t e = data.first_event[i] + 1; e < data.first_event[i + 1]; ++e)
      gaps.push_back(data.times[e] - data.times[e - 1]);
  if (gaps.empty()) return;
  facts.median_gap = median(gaps);
  facts.longest_gap = std::ranges::max(gaps);
  facts.mean_gap =
      std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(gaps.size());
}

// Features that never change, and those with a few values far beyond all others.
void add_odd_features(const Dataset& data, std::span<const std::size_t> training,
                      DataFacts& facts) {
  const auto each_value = [&](auto visit) {
    for (const std::size_t i : training)
      for (std::size_t o = data.first_observation[data.first_event[i]];
           o < data.first_observation[data.first_event[i + 1]]; ++o)
        visit(static_cast<std::size_t>(data.feature[o]), data.value[o]);
  };
  const auto moments = moments_of(data.features.size(), each_value);
  const auto largest_deviation = [&](std::size_t j) {
    return std::max(moments[j].max - moments[j].mean, moments[j].mean - moments[j].min);
  };
  const auto usual = moments_of(data.features.size(), [&](auto visit) {
    each_value([&](std::size_t j, double value) {
      if (std::abs(value - moments[j].mean) <= largest_deviation(j) / 2) visit(j, value);
    });
  });
  for (std::size_t j = 0; j < moments.size(); ++j) {
    if (moments[j].count > 0 && moments[j].min == moments[j].max)
      facts.constant_features.push_back(j);
    const bool few = 100 * (moments[j].count - usual[j].count) < moments[j].count;
    const double farthest = std::max(usual[j].max - usual[j].mean, usual[j].mean - usual[j].min);
    if (few && usual[j].std > 0 && largest_deviation(j) > kFarOff * farthest)
      facts.features_with_outliers.push_back({j, moments[j].min, moments[j].max, usual[j].std});
  }
}

}  // namespace

DataFacts facts_of(const Dataset& data, std::span<const std::size_t> training) {
  DataFacts facts;
  facts.series = training.size();
  facts.features = data.features.size();
  facts.classes = data.classes.size();
  facts.first_time = std::numeric_limits<double>::infinity();
  facts.last_time = -facts.first_time;
  for (const std::size_t i : training) {
    const std::size_t first = data.first_event[i], end = data.first_event[i + 1];
    if (first == end) continue;
    facts.events += end - first;
    facts.observations += data.first_observation[end] - data.first_observation[first];
    facts.first_time = std::min(facts.first_time, data.times[first]);
    facts.last_time = std::max(facts.last_time, data.times[end - 1]);
  }
  check_times(facts.first_time, facts.last_time);
  add_gaps(data, training, facts);
  facts.pieces = !data.continues.empty();
  facts.windows = window_count(data, training);
  facts.memory = memory_of(data, training);
  facts.length = quantile(lengths_of(data, training), 0.9);
  // A window in which most series fill a third, or in which every series is a moment.
  facts.one_clock = facts.length <= 0 || facts.last_time - facts.first_time <= 3 * facts.length;
  const double cut = facts.first_time + kCutShare * (facts.last_time - facts.first_time);
  const auto going_on = std::ranges::count_if(training, [&](std::size_t i) {
    return data.events(i) > 0 && data.times[data.first_event[i + 1] - 1] >= cut;
  });
  facts.reach_cut = 2 * static_cast<std::size_t>(going_on) >= training.size();
  add_odd_features(data, training, facts);
  return facts;
}

}  // namespace edict
