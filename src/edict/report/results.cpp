#include "edict/report/results.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "edict/data/summary.h"
#include "edict/report/published.h"

namespace edict {
namespace {

using nlohmann::json;

json to_json(const std::optional<MeanStd>& value) {
  return value ? json{{"mean", value->mean}, {"std", value->std}} : json(nullptr);
}

std::optional<MeanStd> over(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  for (const double v : values) squares += (v - sum / n) * (v - sum / n);
  return MeanStd{sum / n, std::sqrt(squares / n)};
}

json entry(const std::optional<MeanStd>& ours, const std::optional<MeanStd>& published,
           bool lower_is_better, int digits, const std::vector<std::string>& runs) {
  json result{{"ours", to_json(ours)}, {"published", to_json(published)}, {"runs", runs}};
  result["verdict"] =
      ours && published ? json(verdict(*ours, *published, lower_is_better, digits)) : json(nullptr);
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

json dataset_entry(const StudiedData& studied) {
  const Summary summary = summarise(studied.data);
  const auto published = Published::tables().dataset(studied.plan.title);
  json result{{"dataset", studied.plan.title},
              {"name", studied.plan.name},
              {"classes", studied.data.classes.size()},
              {"features", studied.data.features.size()},
              {"series", summary.series},
              {"events_per_series", summary.events_per_series},
              {"observations", summary.observations},
              {"time_unit", studied.plan.time_unit},
              {"published", nullptr}};
  if (published)
    result["published"] = {{"classes", published->classes},
                           {"features", published->features},
                           {"series", published->series}};
  return result;
}

// Mean over trainings of what `read` takes from each run's calibration; the deviation over series
// is averaged likewise.
template <class Read>
std::optional<MeanStd> over_runs(const std::vector<const json*>& judged, Read read) {
  std::vector<double> means, stds;
  for (const json* result : judged) {
    const json& value = read(*result);
    means.push_back(value.is_number() ? value.get<double>() : value["mean"].get<double>());
    stds.push_back(value.is_number() ? 0.0 : value["std"].get<double>());
  }
  if (means.empty()) return std::nullopt;
  return MeanStd{over(means)->mean, over(stds)->mean};
}

void add_calibration(const Group& group, json& rows) {
  for (const char* task : {"interpolation", "extrapolation"}) {
    std::vector<const json*> judged;
    std::vector<std::string> folders;
    for (const StudiedRun* run : group.runs)
      if (!run->evaluate.is_null() && !run->evaluate[task].is_null()) {
        judged.push_back(&run->evaluate[task]);
        folders.push_back(run->folder);
      }
    const auto add = [&](const char* metric, const std::optional<MeanStd>& ours) {
      const auto published =
          Published::tables().calibration(group.data->title, group.method, task, metric);
      if (!ours && !published) return;
      json row = entry(ours, published, true, 3, folders);
      row["dataset"] = group.data->title;
      row["method"] = group.method;
      row["task"] = task;
      row["metric"] = metric;
      rows.push_back(std::move(row));
    };
    add("MSE", over_runs(judged, [](const json& r) -> const json& { return r["mse"]; }));
    // Of the whole split: with the few hidden observations of a series, the error of a series by
    // itself is mostly binomial noise, far above the published values even for a perfect model.
    add("ECE", over_runs(judged, [](const json& r) -> const json& { return r["ece"]; }));
    if (judged.empty()) continue;
    rows.back()["ours"]["std"] = nullptr;
    rows.back()["per_series"] = to_json(
        over_runs(judged, [](const json& r) -> const json& { return r["ece_per_series"]; }));
    rows.back()["per_series"]["floor"] = over_runs(judged, [](const json& r) -> const json& {
                                           return r["ece_per_series_floor"];
                                         })->mean;
  }
}

// level < 0: no noise at all.
void add_score(const Group& group, const char* score, int level, json& rows) {
  for (const Guard& guard : group.runs.front()->guards) {
    std::vector<double> values;
    std::vector<std::string> folders;
    for (const StudiedRun* run : group.runs) {
      if (run->stress.is_null()) continue;
      const json& curve = run->stress["guards"][std::string(name_of(guard.kind))];
      const json* point = level < 0 ? &curve["clean"] : nullptr;
      if (level >= 0)
        for (const json& candidate : curve["levels"])
          if (candidate["level"] == level) point = &candidate;
      if (!point) continue;
      for (const json& seed : (*point)["seeds"]) values.push_back(100 * seed[score].get<double>());
      folders.push_back(run->folder);
    }
    const std::string method = method_name(group.method, guard.kind);
    const auto published = level < 0
                               ? std::nullopt
                               : Published::tables().score(score, group.data->title, method, level);
    if (values.empty() && !published) continue;
    json row = entry(over(values), published, false, 1, folders);
    row["dataset"] = group.data->title;
    row["method"] = method;
    row["level"] = level < 0 ? json(nullptr) : json(level);
    rows.push_back(std::move(row));
  }
}

}  // namespace

const char* verdict(const MeanStd& ours, const MeanStd& published, bool lower_is_better,
                    int digits) {
  const double gain = (lower_is_better ? -1 : 1) * (ours.mean - published.mean);
  const double tolerance = std::max(ours.std, published.std) + 0.5 * std::pow(10.0, -digits);
  return std::abs(gain) <= tolerance ? "equal" : gain > 0 ? "better" : "worse";
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

json results_of(const Study& study) {
  json results{{"levels", study.plan.levels}, {"seeds", study.plan.seeds},
               {"datasets", json::array()},   {"calibration", json::array()},
               {"accuracy", json::array()},   {"auroc", json::array()},
               {"runs", json::array()}};
  for (const StudiedData& data : study.datasets) results["datasets"].push_back(dataset_entry(data));
  std::vector<int> levels{-1};
  levels.insert(levels.end(), study.plan.levels.begin(), study.plan.levels.end());
  for (const Group& group : groups_of(study)) {
    add_calibration(group, results["calibration"]);
    for (const char* score : {"accuracy", "auroc"})
      for (const int level : levels) add_score(group, score, level, results[score]);
  }
  for (const StudiedRun& run : study.runs)
    results["runs"].push_back({{"dataset", run.dataset},
                               {"method", run.method},
                               {"seed", run.seed},
                               {"folder", run.folder},
                               {"failure", run.failure ? json(*run.failure) : json(nullptr)}});
  return results;
}

std::string value_text(const json& value, int digits) {
  if (value.is_null()) return "–";
  if (value["std"].is_null()) return fmt::format("{:.{}f}", value["mean"].get<double>(), digits);
  return fmt::format("{:.{}f} ± {:.{}f}", value["mean"].get<double>(), digits,
                     value["std"].get<double>(), digits);
}

std::vector<std::string> methods_of(const nlohmann::json& rows, const std::string& dataset) {
  std::vector<std::string> methods;
  for (const nlohmann::json& row : rows)
    if (row["dataset"] == dataset &&
        std::find(methods.begin(), methods.end(), row["method"]) == methods.end())
      methods.push_back(row["method"]);
  return methods;
}

}  // namespace edict
