#include "edict/eval/breakdown.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "edict/core/error.h"
#include "edict/core/json_values.h"
#include "edict/core/not_finite.h"
#include "edict/eval/distribution.h"
#include "edict/eval/judged_observation.h"

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

struct Record {
  std::size_t feature;
  double horizon;
  bool extrapolated;
  double probability;  // F(x)
  Scores model, last_value, training_mean;
};

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

void add(const Record& record, ScoredGroup& group) {
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

std::vector<double> chosen_edges(std::vector<double> horizons) {
  constexpr std::size_t kRanges = 6;
  std::vector<double> edges;
  if (horizons.empty()) return edges;
  std::sort(horizons.begin(), horizons.end());
  for (std::size_t k = 1; k < kRanges; ++k) {
    const double at = horizons[k * (horizons.size() - 1) / kRanges];
    if (!(at > 0)) continue;
    const double edge = round_number(at);
    if ((edges.empty() || edge > edges.back()) && edge < horizons.back()) edges.push_back(edge);
  }
  return edges;
}

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

std::optional<TaskBreakdown> broken_down(const Model& model,
                                         const std::vector<std::vector<Record>>& records,
                                         const std::vector<double>& edges, bool extrapolated) {
  TaskBreakdown task{named("all"), {}, horizon_groups(edges), {}};
  for (std::size_t j = 0; j < model.features.size(); ++j)
    task.features.push_back(named(model.features[j], model.protocol.standardisation.scale[j]));
  for (const auto& series : records)
    for (const Record& record : series) {
      if (record.extrapolated != extrapolated) continue;
      add(record, task.all);
      add(record, task.features[record.feature]);
      const std::size_t range =
          std::isnan(record.horizon)
              ? edges.size() + 1
              : static_cast<std::size_t>(
                    std::lower_bound(edges.begin(), edges.end(), record.horizon) - edges.begin());
      add(record, task.horizons[range]);
      const auto bin = static_cast<std::size_t>(record.probability * kPitBins);
      task.pit[std::min(bin, kPitBins - 1)] += 1;
    }
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

DetailedEvaluation evaluate_in_detail(const Model& model, const Dataset& data,
                                      std::span<const std::size_t> series, ThreadPool& pool,
                                      const Guard& guard, std::vector<double> horizon_edges,
                                      StopFlag stop, Sides sides) {
  if (!std::is_sorted(horizon_edges.begin(), horizon_edges.end(), std::less_equal<>()) ||
      (!horizon_edges.empty() && !(horizon_edges.front() > 0)))
    throw Error("horizons: give times above 0, each later than the one before");
  EvaluationSums sums(series.size());
  std::vector<std::vector<Record>> records(series.size());
  const ShownObservations shown = each_judged_observation(
      model, data, series, pool, guard, stop, sides,
      [&](std::size_t i, const JudgedObservation& o) {
        sums.add(i, o);
        const auto j = static_cast<std::size_t>(o.feature);
        const double mean = model.protocol.population_mean(j);
        const Marginal training{mean, 0, 0, model.protocol.population_deviation(j), kInfinity};
        records[i].push_back({j, o.horizon, o.extrapolated, probability_below(o.expected, o.x),
                              scores_of(o.expected, o.x),
                              scores_of_number(std::isnan(o.last_value) ? mean : o.last_value, o.x),
                              scores_of(training, o.x)});
      });
  DetailedEvaluation result{sums.result(shown), {}};
  if (horizon_edges.empty()) {
    std::vector<double> horizons;
    for (const auto& own : records)
      for (const Record& record : own)
        if (!std::isnan(record.horizon)) horizons.push_back(record.horizon);
    horizon_edges = chosen_edges(std::move(horizons));
  }
  result.breakdown = {horizon_edges, broken_down(model, records, horizon_edges, false),
                      broken_down(model, records, horizon_edges, true)};
  return result;
}

nlohmann::json to_json(const Scores& scores) {
  nlohmann::json coverage = nlohmann::json::array();
  for (std::size_t k = 0; k < kToldLevels.size(); ++k)
    coverage.push_back({{"level", kToldLevels[k]}, {"share", scores.coverage[k]}});
  return {{"mse", scores.mse},
          {"mae", scores.mae},
          {"nll", scores.nll},
          {"crps", scores.crps},
          {"coverage", std::move(coverage)}};
}

void from_json(const nlohmann::json& json, Scores& scores) {
  scores.mse = number_or_nan(json.at("mse"));
  scores.mae = number_or_nan(json.at("mae"));
  scores.nll = number_or_nan(json.at("nll"));
  scores.crps = number_or_nan(json.at("crps"));
  for (std::size_t k = 0; k < kToldLevels.size(); ++k) {
    const nlohmann::json& told = json.at("coverage").at(k);
    if (told.at("level").get<double>() != kToldLevels[k])
      throw Error("a coverage is of another level than is told today");
    scores.coverage[k] = number_or_nan(told.at("share"));
  }
}

nlohmann::json to_json(const ScoredGroup& group) {
  return {{"name", group.name},
          {"observations", group.observations},
          {"unit", group.unit},
          {"model", to_json(group.model)},
          {"last_value", to_json(group.last_value)},
          {"training_mean", to_json(group.training_mean)}};
}

void from_json(const nlohmann::json& json, ScoredGroup& group) {
  json.at("name").get_to(group.name);
  json.at("observations").get_to(group.observations);
  json.at("unit").get_to(group.unit);
  json.at("model").get_to(group.model);
  json.at("last_value").get_to(group.last_value);
  json.at("training_mean").get_to(group.training_mean);
}

nlohmann::json to_json(const TaskBreakdown& task) {
  return {{"all", to_json(task.all)},
          {"features", json_list(task.features)},
          {"horizons", json_list(task.horizons)},
          {"pit", task.pit}};
}

void from_json(const nlohmann::json& json, TaskBreakdown& task) {
  json.at("all").get_to(task.all);
  json.at("features").get_to(task.features);
  json.at("horizons").get_to(task.horizons);
  json.at("pit").get_to(task.pit);
}

nlohmann::json to_json(const Breakdown& breakdown) {
  return {{"horizon_edges", breakdown.horizon_edges},
          {"interpolation", json_or_null(breakdown.interpolation)},
          {"extrapolation", json_or_null(breakdown.extrapolation)}};
}

void from_json(const nlohmann::json& json, Breakdown& breakdown) {
  json.at("horizon_edges").get_to(breakdown.horizon_edges);
  breakdown.interpolation = optional_from_json<TaskBreakdown>(json.at("interpolation"));
  breakdown.extrapolation = optional_from_json<TaskBreakdown>(json.at("extrapolation"));
}

}  // namespace edict
