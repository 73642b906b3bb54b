#include "front/cli/commands/folds.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/json/json.h"
#include "base/threads/interrupted.h"
#include "front/cli/outputs.h"
#include "front/cli/terminal/interrupt.h"
#include "front/cli/terminal/training_progress.h"
#include "research/cross_validation.h"

namespace edict::cli {
namespace {

void print(std::FILE* to, const study::CrossValidation& result) {
  fmt::print(to, "  {:<20} {:>10}   {:<10} {:>10} {:>10}\n", "", "mean", "deviation", "lowest",
             "highest");
  for (const study::FoldMetric& metric : study::fold_metrics(result)) {
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

void check_folds(const FoldsRequest& request) {
  check_files({}, {request.json});
  namespace fs = std::filesystem;
  if (request.out.empty()) {
    if (request.claim) throw Error("--claim: workers share a folder; name it with --out");
    if (request.resume)
      throw Error(
          "--resume: a cross-validation continues from the models of its folds; name their folder "
          "with --out");
    return;
  }
  if (fs::exists(request.out) && !fs::is_directory(request.out))
    throw Error(fmt::format("{}: is a file; with --folds, --out names a folder", request.out));
  if (!request.resume && !request.force && !request.claim &&
      fs::exists(study::fold_model_path(request.out, 0)))
    throw Error(
        fmt::format("{}: already holds the models of folds; give --resume to continue with them, "
                    "--force to train anew, or another folder",
                    request.out));
}

void run_folds(const FoldsRequest& request, const Config& config, const Dataset& data,
               ThreadPool& pool) {
  Progress progress("training");
  study::FoldOptions options;
  options.folds = request.folds;
  options.members = request.members;
  options.out = request.out;
  options.resume = request.resume;
  options.claim = request.claim;
  options.training.stop = &interrupt_flag(
      request.out.empty() ? "edict: stopped; nothing was kept (give --out to be able to --resume)\n"
                          : "edict: stopped; --resume goes on after the last whole epoch\n");
  TrainingProgress shown(
      progress, config, request.folds * request.members,
      {fmt::format("{} in {} folds of {} series", config.model.kind, request.folds, data.size())});
  shown.follow(options.training);
  options.on_model = [&](std::size_t fold, std::size_t member) {
    shown.next(fmt::format(
        "fold {} of {}{}", fold + 1, request.folds,
        request.members > 1 ? fmt::format(", member {} of {}", member + 1, request.members) : ""));
  };
  const study::CrossValidation result = study::cross_validate(config, data, pool, options);
  progress.end();
  if (result.interrupted) throw Interrupted();
  std::FILE* const text = text_stream({request.json});
  std::size_t judged = 0;
  for (const study::FoldResult& fold : result.folds) judged += fold.judged;
  fmt::print(
      text,
      "{} folds, {} series, each evaluated by a model that was not trained on it; {} test series "
      "left out ({})\n\n",
      result.folds.size(), judged, data.size() - judged, duration(progress.seconds()));
  print(text, result);
  if (!request.out.empty()) fmt::print(text, "\n{}: the models of the folds\n", request.out);
  nlohmann::json json = to_json(result);
  json["config"] = to_json(config);
  json["members"] = request.members;
  write_json(request.json, json);
}

}  // namespace edict::cli
