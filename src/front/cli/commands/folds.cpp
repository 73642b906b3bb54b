#include "front/cli/commands/folds.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/json/json.h"
#include "base/threads/interrupted.h"
#include "front/cli/outputs.h"
#include "front/cli/terminal/interrupt.h"
#include "front/cli/terminal/training_progress.h"

namespace edict::cli {
namespace {

void print(std::FILE* to, const app::CrossValidation& result) {
  fmt::print(to, "  {:<20} {:>10}   {:<10} {:>10} {:>10}\n", "", "mean", "deviation", "lowest",
             "highest");
  for (const app::FoldMetric& metric : app::fold_metrics(result)) {
    double low = metric.over_folds.mean, high = low;
    for (const double x : metric.folds) {
      if (std::isnan(x)) continue;
      low = std::min(low, x);
      high = std::max(high, x);
    }
    fmt::print(to, "  {:<20} {:>10.4f} ± {:<10.4f} {:>10.4f} {:>10.4f}\n", metric.name,
               metric.over_folds.mean, metric.over_folds.std, low, high);
  }
}

}  // namespace

void run_folds(app::CrossValidateRequest request, const std::string& json_path, const Dataset& data,
               ThreadPool& pool, Progress& progress) {
  request.stop = &interrupt_flag(
      request.out.empty() ? "edict: stopped; nothing was kept (give --out to be able to --resume)\n"
                          : "edict: stopped; --resume goes on after the last whole epoch\n");
  TrainingProgress shown(progress, request.config, request.folds * request.members,
                         {fmt::format("{} in {} folds of {} series", request.config.model.kind,
                                      request.folds, data.size())});
  shown.follow(request.progress);
  request.progress.on_run = [&](const app::TrainingRun& run) {
    if (!run.backward)
      shown.next(fmt::format("fold {} of {}{}", run.fold + 1, request.folds,
                             request.members > 1
                                 ? fmt::format(", member {} of {}", run.member + 1, request.members)
                                 : ""));
  };
  const app::CrossValidation result = cross_validate(data, request, pool);
  progress.end();
  if (result.interrupted) throw Interrupted();
  std::FILE* const text = text_stream({json_path});
  std::size_t judged = 0;
  for (const app::FoldResult& fold : result.folds) judged += fold.judged;
  fmt::print(
      text,
      "{} folds, {} series, each evaluated by a model that was not trained on it; {} test series "
      "left out ({})\n\n",
      result.folds.size(), judged, data.size() - judged, duration(progress.seconds()));
  print(text, result);
  if (!request.out.empty())
    fmt::print(text, "\n{}: the models of the folds\n", request.out.string());
  nlohmann::json json = to_json(result);
  json["config"] = to_json(request.config);
  json["members"] = request.members;
  write_json(json_path, json);
}

}  // namespace edict::cli
