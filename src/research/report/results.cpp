#include "research/report/results.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/summary.h"

namespace edict::report {
namespace {

using study::PlannedData;
using study::StudiedData;
using study::StudiedRun;
using study::Study;

std::optional<MeanStd> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  for (const double v : values) squares += (v - sum / n) * (v - sum / n);
  return MeanStd{sum / n, std::sqrt(squares / n)};
}

Comparison compare(const std::optional<MeanStd>& ours, const std::optional<MeanStd>& published,
                   bool lower_is_better, int digits, const std::vector<std::string>& runs) {
  Comparison result{ours, published, std::nullopt, runs};
  if (ours && published) result.verdict = verdict(*ours, *published, lower_is_better, digits);
  return result;
}

// Runs of one method on one dataset, a training seed each.
struct Group {
  const PlannedData* data;
  std::string method;
  std::vector<const StudiedRun*> runs;
};

std::vector<Group> groups_of(const Study& study) {
  std::vector<Group> groups;
  for (const StudiedData& data : study.datasets)
    for (const StudiedRun& run : study.runs) {
      if (run.dataset != data.plan.name) continue;
      const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
        return g.data == &data.plan && g.method == run.method;
      });
      if (found == groups.end())
        groups.push_back({&data.plan, run.method, {&run}});
      else
        found->runs.push_back(&run);
    }
  return groups;
}

DatasetRow dataset_row(const StudiedData& studied) {
  const Summary summary = summarise(studied.data);
  DatasetRow row;
  row.title = studied.plan.title;
  row.name = studied.plan.name;
  row.classes = studied.data.classes.size();
  row.features = studied.data.features.size();
  row.series = summary.series;
  row.observations = summary.observations;
  row.events_per_series = summary.events_per_series;
  row.time_unit = studied.plan.time_unit;
  row.published = Published::tables().dataset(studied.plan.title);
  return row;
}

// Mean over trainings; the deviation over series is averaged likewise.
std::optional<MeanStd> mse_over_runs(const std::vector<const CalibrationResult*>& trainings) {
  std::vector<double> means, stds;
  for (const CalibrationResult* result : trainings) {
    means.push_back(result->mse.mean);
    stds.push_back(result->mse.std);
  }
  if (means.empty()) return std::nullopt;
  return MeanStd{mean_of(means)->mean, mean_of(stds)->mean};
}
std::optional<MeanStd> ece_over_runs(const std::vector<const CalibrationResult*>& trainings) {
  std::vector<double> values;
  for (const CalibrationResult* result : trainings) values.push_back(result->ece);
  auto result = mean_of(values);
  if (values.size() == 1) result->std = std::numeric_limits<double>::quiet_NaN();
  return result;
}

void add_calibration(const Group& group, std::vector<CalibrationRow>& rows) {
  for (const Task task : {Task::interpolation, Task::extrapolation}) {
    std::vector<const CalibrationResult*> trainings;
    std::vector<std::string> folders;
    for (const StudiedRun* run : group.runs) {
      if (!run->results.evaluation) continue;
      const auto& result = task == Task::interpolation ? run->results.evaluation->interpolation
                                                       : run->results.evaluation->extrapolation;
      if (!result) continue;
      trainings.push_back(&*result);
      folders.push_back(run->folder);
    }
    for (const Metric metric : {Metric::mse, Metric::ece}) {
      const auto ours = metric == Metric::mse ? mse_over_runs(trainings) : ece_over_runs(trainings);
      const auto published =
          Published::tables().calibration(group.data->title, group.method, task, metric);
      if (!ours && !published) continue;
      rows.push_back({group.data->title, group.method, task, metric,
                      compare(ours, published, true, kCalibrationDigits, folders)});
    }
  }
}

const StressPoint* point_of(const StressCurve& curve, const std::optional<int>& level) {
  if (!level) return &curve.clean;
  for (const StressPoint& point : curve.levels)
    if (point.level == *level) return &point;
  return nullptr;
}

void add_score(const Group& group, Score score, const std::optional<int>& level,
               std::vector<ScoreRow>& rows) {
  for (const Guard& guard : group.runs.front()->guards) {
    std::vector<double> values;
    std::vector<std::string> folders;
    for (const StudiedRun* run : group.runs) {
      if (!run->results.stress) continue;
      const StressCurve* curve = run->results.stress->find(guard.kind);
      const StressPoint* point = curve ? point_of(*curve, level) : nullptr;
      if (!point) continue;
      for (const ClassificationResult& seed : point->seeds) {
        const double value = score == Score::accuracy ? seed.accuracy : seed.auroc.value;
        if (!std::isnan(value)) values.push_back(100 * value);  // a single class has no ranking
      }
      folders.push_back(run->folder);
    }
    const std::string method = method_name(group.method, guard.kind);
    std::optional<MeanStd> published;
    if (level) published = Published::tables().score(score, group.data->title, method, *level);
    if (values.empty() && !published) continue;
    rows.push_back({group.data->title, method, level,
                    compare(mean_of(values), published, false, kScoreDigits, folders)});
  }
}

}  // namespace

Verdict verdict(const MeanStd& ours, const MeanStd& published, bool lower_is_better, int digits) {
  const double gain = (lower_is_better ? -1 : 1) * (ours.mean - published.mean);
  const double tolerance = std::fmax(ours.std, published.std) + 0.5 * std::pow(10.0, -digits);
  return std::abs(gain) <= tolerance ? Verdict::equal : gain > 0 ? Verdict::better : Verdict::worse;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::equal:
      break;
  }
  return "equal";
}

std::string mark(const std::optional<Verdict>& verdict) {
  if (!verdict) return {};
  return *verdict == Verdict::better ? " ▲" : *verdict == Verdict::worse ? " ▼" : " ≈";
}

std::string method_name(const std::string& method, Guard::Kind guard) {
  switch (guard) {
    case Guard::Kind::edgr:
      return method + " w/ EDGR";
    case Guard::Kind::population:
      return method + " w/ Pop. Mean";
    case Guard::Kind::none:
      break;
  }
  return method;
}

std::vector<std::optional<int>> Results::levels_and_none() const {
  std::vector<std::optional<int>> all{std::nullopt};
  all.insert(all.end(), levels.begin(), levels.end());
  return all;
}

Results results_of(const Study& study) {
  Results results;
  results.levels = study.plan.levels;
  results.seeds = study.plan.seeds;
  for (const StudiedData& data : study.datasets) results.datasets.push_back(dataset_row(data));
  for (const Group& group : groups_of(study)) {
    add_calibration(group, results.calibration);
    for (const std::optional<int>& level : results.levels_and_none()) {
      add_score(group, Score::accuracy, level, results.accuracy);
      add_score(group, Score::auroc, level, results.auroc);
    }
  }
  for (const StudiedRun& run : study.runs)
    results.runs.push_back({run.dataset, run.method, run.folder, run.seed, run.failure});
  return results;
}

std::string value_text(const std::optional<MeanStd>& value, int digits) {
  if (!value) return "–";
  if (std::isnan(value->std)) return fmt::format("{:.{}f}", value->mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", value->mean, digits, value->std, digits);
}

}  // namespace edict::report
