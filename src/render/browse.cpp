#include "render/browse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ask/classification.h"
#include "ask/trajectory.h"
#include "base/not_finite.h"
#include "data/subset.h"

namespace edict::study {
namespace {

// Enough for a picture, in a third of the bytes.
double short_number(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double power = std::pow(10.0, 4 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(power) ? std::round(value * power) / power : value;
}

// The features with most observations, in their own order.
std::vector<std::size_t> most_observed(const Dataset& one, int count) {
  std::vector<std::size_t> seen(one.features.size()), order(one.features.size());
  for (const std::int32_t feature : one.feature) ++seen[static_cast<std::size_t>(feature)];
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return seen[a] > seen[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
  std::sort(order.begin(), order.end());
  return order;
}

// Of a feature in the only series of `one`, with from ≤ time < until.
TimedValues observed(const Dataset& one, std::size_t feature, double from, double until) {
  TimedValues result;
  for (std::size_t e = 0; e < one.events(); ++e)
    for (const Observation& o : one.observed(e))
      if (static_cast<std::size_t>(o.feature) == feature && one.times[e] >= from &&
          one.times[e] < until)
        result.emplace_back(short_number(one.times[e]), short_number(o.value));
  return result;
}

// What `model` expects of the only series of `absorbed`.
BrowsedView view_of(const Model& model, const Dataset& absorbed, const Guard& guard,
                    const std::vector<double>& times, const std::vector<std::size_t>& features,
                    ThreadPool& pool, const BrowseOptions& options) {
  BrowsedView view;
  predict(model, absorbed, {times, {}, guard}, pool, [&](const Trajectory& trajectory) {
    for (const std::size_t j : features) {
      BrowsedBand& band = view.features.emplace_back();
      for (std::size_t t = 0; t < times.size(); ++t) {
        const Marginal& m = trajectory.at(t, j);
        band.mean.push_back(short_number(m.mean));
        band.half.push_back(short_number(half_width(m, options.level)));
        band.aleatoric.push_back(short_number(std::sqrt(m.aleatoric)));
        band.epistemic.push_back(short_number(std::sqrt(m.epistemic)));
      }
      for (const Clip& clip : trajectory.clips)
        if (clip.feature == j)
          band.clips.push_back({short_number(clip.time), short_number(clip.raw),
                                short_number(clip.used), short_number(clip.sigmas)});
    }
  });
  if (model.network->classes() > 0) {
    const std::size_t first = 0;
    const ClassProbabilities p =
        class_trajectories(model, absorbed, {times, {}, guard}, std::span(&first, 1), pool)[0]
            .probabilities;
    for (std::size_t k = 0; k < p.classes; ++k) {
      std::vector<double>& one = view.probability.emplace_back();
      for (std::size_t t = 0; t < times.size(); ++t) one.push_back(short_number(p.row(t)[k]));
    }
  }
  return view;
}

}  // namespace

std::vector<std::size_t> spread(std::span<const std::size_t> series, std::size_t count) {
  std::vector<std::size_t> result;
  count = std::min(count, series.size());
  for (std::size_t i = 0; i < count; ++i) result.push_back(series[i * series.size() / count]);
  return result;
}

Browse browse(const Model& model, const Dataset& data, std::span<const std::size_t> series,
              ThreadPool& pool, const BrowseOptions& options) {
  Browse result{options.level, model.protocol.t_cut, options.noise_level, model.classes, {}};
  for (const std::size_t i : series) {
    const double cut = model.protocol.cut_of(data, i);
    const Dataset whole = subset(data, std::span(&i, 1));
    if (whole.events() == 0) continue;
    const Dataset before = subset(data, std::span(&i, 1), cut);
    const Dataset noisy = with_noise(model.protocol, whole, {}, options.noise);
    const double start = model.protocol.start_of(data, i);
    const double end = model.protocol.end_of(data, i);
    std::vector<double> times;
    for (int k = 0; k <= options.points; ++k)
      times.push_back(start + (end - start) * k / options.points);
    const auto features = most_observed(whole, options.features);
    BrowsedSeries one;
    one.id = data.ids[i];
    if (data.labels[i] != Dataset::kNone)
      one.label = data.classes[static_cast<std::size_t>(data.labels[i])];
    for (const double time : times) one.times.push_back(short_number(time));
    one.forecast = view_of(model, before, {}, times, features, pool, options);
    one.noisy = view_of(model, noisy, {Guard::Kind::edgr}, times, features, pool, options);
    for (const std::size_t j : features) {
      one.features.push_back({data.features[j], observed(whole, j, -kInfinity, cut),
                              observed(whole, j, cut, kInfinity),
                              observed(noisy, j, -kInfinity, kInfinity)});
    }
    result.series.push_back(std::move(one));
  }
  return result;
}

}  // namespace edict::study
