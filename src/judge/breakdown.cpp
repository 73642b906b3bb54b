#include "judge/breakdown.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "ask/distribution.h"
#include "base/error.h"
#include "base/not_finite.h"
#include "judge/judged_observation.h"

namespace edict {
namespace {

// One observation's contribution to the scores of one forecast.
Scores scores_of(const Marginal& m, double x) {
  const double error = x - m.mean;
  Scores scores{error * error,
                std::abs(error),
                -log_density(m, x),
                std::isinf(m.dof) ? normal_crps(x, m.mean, m.scale)
                                  : student_t_crps(x, m.mean, m.scale, m.dof),
                {}};
  const double central = central_level(m, x);
  for (std::size_t k = 0; k < kToldLevels.size(); ++k)
    scores.coverage[k] = central <= kToldLevels[k] ? 1.0 : 0.0;
  return scores;
}

// A point mass: its CRPS is the absolute error.
Scores scores_of_number(double forecast, double x) {
  const double error = std::abs(x - forecast);
  Scores scores{error * error, error, kNaN, error, {}};
  scores.coverage.fill(kNaN);
  return scores;
}

void add(const Scores& from, Scores& to) {
  to.mse += from.mse;
  to.mae += from.mae;
  to.nll += from.nll;
  to.crps += from.crps;
  for (std::size_t k = 0; k < to.coverage.size(); ++k) to.coverage[k] += from.coverage[k];
}

void divide(Scores& scores, double n) {
  for (double* value : {&scores.mse, &scores.mae, &scores.nll, &scores.crps}) *value /= n;
  for (double& value : scores.coverage) value /= n;
}

void add(const BreakdownSums::Record& record, ScoredGroup& group) {
  ++group.observations;
  add(record.model, group.model);
  add(record.last_value, group.last_value);
  add(record.training_mean, group.training_mean);
}

void finish(ScoredGroup& group) {
  const auto n = static_cast<double>(group.observations);
  for (Scores* scores : {&group.model, &group.last_value, &group.training_mean}) divide(*scores, n);
}

ScoredGroup named(std::string name, double unit = 1.0) {
  return {std::move(name), 0, unit, {}, {}, {}};
}

// 1, 2 or 5 times a power of ten, whichever is nearest by ratio.
double round_number(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  double best = power;
  for (const double step : {1.0, 2.0, 5.0, 10.0})
    if (std::abs(std::log(step * power / value)) < std::abs(std::log(best / value)))
      best = step * power;
  return best;
}

// How many horizons there are of each round number: rounding keeps their order, so that the round
// number of a quantile is the quantile of round numbers, and no horizon need be kept.
struct RoundedHorizons {
  std::map<double, std::size_t> count;  // none above 0: counted as 0
  std::size_t all = 0;
  double longest = 0;

  void add(double horizon) {
    ++count[horizon > 0 ? round_number(horizon) : 0.0];
    ++all;
    longest = std::max(longest, horizon);
  }
  void add(const RoundedHorizons& other) {
    for (const auto& [number, n] : other.count) count[number] += n;
    all += other.all;
    longest = std::max(longest, other.longest);
  }
  // Of the horizon at this place, were they sorted.
  double at(std::size_t place) const {
    auto found = count.begin();
    for (; place >= found->second; ++found) place -= found->second;
    return found->first;
  }
};

std::vector<ScoredGroup> horizon_groups(const std::vector<double>& edges) {
  std::vector<ScoredGroup> groups;
  for (std::size_t k = 0; k <= edges.size(); ++k)
    groups.push_back(named(edges.empty() ? "any"
                           : k == 0      ? fmt::format("up to {:g}", edges[0])
                           : k == edges.size()
                               ? fmt::format("over {:g}", edges.back())
                               : fmt::format("{:g} to {:g}", edges[k - 1], edges[k])));
  groups.push_back(named("nothing before"));
  return groups;
}

TaskBreakdown empty_task(const Model& model, const std::vector<double>& edges) {
  TaskBreakdown task{named("all"), {}, horizon_groups(edges), {}};
  for (std::size_t j = 0; j < model.features.size(); ++j)
    task.features.push_back(named(model.features[j], model.protocol.standardisation.scale[j]));
  return task;
}

// From sums to means.
std::optional<TaskBreakdown> finished(TaskBreakdown task) {
  if (task.all.observations == 0) return std::nullopt;
  for (double& share : task.pit) share /= static_cast<double>(task.all.observations);
  finish(task.all);
  for (auto* groups : {&task.features, &task.horizons}) {
    std::erase_if(*groups, [](const ScoredGroup& group) { return group.observations == 0; });
    for (ScoredGroup& group : *groups) finish(group);
  }
  return task;
}

}  // namespace

bool beaten(const ScoredGroup& group) {
  return group.model.mse >= std::min(group.last_value.mse, group.training_mean.mse);
}

BreakdownSums::BreakdownSums(const Model& model, std::vector<double> horizon_edges)
    : model_(model), edges_(std::move(horizon_edges)) {
  if (!std::is_sorted(edges_.begin(), edges_.end(), std::less_equal<>()) ||
      (!edges_.empty() && !(edges_.front() > 0)))
    throw Error("horizons: give times above 0, each later than the one before");
  interpolation_ = extrapolation_ = empty_task(model, edges_);
}

BreakdownSums::OfSeries BreakdownSums::of(std::span<const JudgedObservation> observations) const {
  OfSeries own;
  own.reserve(observations.size());
  for (const JudgedObservation& o : observations) {
    const double mean = model_.protocol.population_mean(o.feature), x = o.observed;
    const Marginal training{mean, 0, 0, model_.protocol.population_deviation(o.feature), kInfinity};
    own.push_back({o.feature, o.horizon, o.extrapolated, probability_below(o.expected, x),
                   scores_of(o.expected, x),
                   scores_of_number(std::isnan(o.last_value) ? mean : o.last_value, x),
                   scores_of(training, x)});
  }
  return own;
}

void BreakdownSums::add(const OfSeries& series) {
  for (const Record& record : series) {
    TaskBreakdown& task = record.extrapolated ? extrapolation_ : interpolation_;
    edict::add(record, task.all);
    edict::add(record, task.features[record.feature]);
    const std::size_t range =
        std::isnan(record.horizon)
            ? edges_.size() + 1
            : static_cast<std::size_t>(
                  std::lower_bound(edges_.begin(), edges_.end(), record.horizon) - edges_.begin());
    edict::add(record, task.horizons[range]);
    const auto bin = static_cast<std::size_t>(record.probability * kPitBins);
    task.pit[std::min(bin, kPitBins - 1)] += 1;
  }
}

Breakdown BreakdownSums::result() const {
  return {edges_, finished(interpolation_), finished(extrapolation_)};
}

std::vector<double> even_horizon_edges(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series, ThreadPool& pool) {
  std::vector<RoundedHorizons> of_worker(pool.size());
  const bool windows = has_long_series(data, series);
  const Timelines timelines =
      windows ? timelines_to_judge(model.protocol, model.config.data, data, series) : Timelines();
  pool.for_each(windows ? timelines.size() : series.size(), [&](std::size_t i, std::size_t worker) {
    const Timeline<float> timeline =
        windows ? timelines[i]
                : evaluation_timeline(model.protocol, model.config.data, data, series[i]);
    each_asked_observation(
        timeline, model.features.size(),
        [&](std::size_t stop, std::size_t, double last_time, std::span<const double>) {
          if (!std::isnan(last_time))
            of_worker[worker].add(horizon_at(model, timeline.stops[stop].time, last_time));
        });
  });
  RoundedHorizons horizons;
  for (const RoundedHorizons& own : of_worker) horizons.add(own);
  constexpr std::size_t kRanges = 6;
  std::vector<double> edges;
  if (horizons.all == 0) return edges;
  for (std::size_t k = 1; k < kRanges; ++k) {
    const double edge = horizons.at(k * (horizons.all - 1) / kRanges);
    if (edge > (edges.empty() ? 0.0 : edges.back()) && edge < horizons.longest)
      edges.push_back(edge);
  }
  return edges;
}

}  // namespace edict
