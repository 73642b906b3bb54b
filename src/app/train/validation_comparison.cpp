#include "app/train/validation_comparison.h"

#include <algorithm>

#include "judge/detailed_evaluation.h"

namespace edict::app {
namespace {

constexpr std::size_t kFewest = 50;  // observations of a feature, to name its coverage
constexpr double kLowest = 0.8, kHighest = 0.97;

double coverage_of_90(const Scores& scores) {
  const auto level = std::ranges::find(kToldLevels, 0.9);
  return scores.coverage[static_cast<std::size_t>(level - kToldLevels.begin())];
}

void compare_features(const Model& model, const TaskBreakdown& task, ValidationComparison& result) {
  for (const ScoredGroup& feature : task.features) {
    const auto place = std::ranges::find(model.features, feature.name) - model.features.begin();
    if (is_unlearnt(model.config.model, static_cast<std::size_t>(place))) continue;
    if (!(feature.model.crps < feature.last_value.crps)) result.lost.push_back(feature.name);
    const double held = coverage_of_90(feature.model);
    if (feature.observations >= kFewest && !(held >= kLowest && held <= kHighest))
      result.off.push_back({feature.name, held});
  }
}

}  // namespace

ValidationComparison compare_with_last_value(const Model& model, const Dataset& data,
                                             std::span<const std::size_t> validation,
                                             ThreadPool& pool) {
  const Breakdown breakdown = evaluate_in_detail(model, data, validation, pool).breakdown;
  ValidationComparison result;
  const auto compare = [&](const std::optional<TaskBreakdown>& task) {
    if (!task || task->all.observations == 0) return std::optional<ComparedTask>();
    compare_features(model, *task, result);
    const Scores& own = task->all.model;
    return std::optional(ComparedTask{own.crps, task->all.last_value.crps, coverage_of_90(own)});
  };
  result.interpolation = compare(breakdown.interpolation);
  result.extrapolation = compare(breakdown.extrapolation);
  std::ranges::sort(result.lost);
  result.lost.erase(std::unique(result.lost.begin(), result.lost.end()), result.lost.end());
  return result;
}

}  // namespace edict::app
