#include "app/train/train.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "app/train/validation_comparison.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/text/counted.h"
#include "base/threads/interrupted.h"
#include "data/name_listing.h"
#include "front/cli/command.h"
#include "front/cli/commands/folds.h"
#include "front/cli/given_data.h"
#include "front/cli/processes.h"
#include "front/cli/run_settings.h"
#include "front/cli/terminal/progress.h"
#include "front/cli/terminal/score_tables.h"
#include "front/cli/terminal/training_progress.h"
#include "learn/ensemble_training.h"
#include "model/registry.h"
#include "research/search/search.h"

namespace edict::cli {
namespace {

struct TrainArguments {
  std::string data, out, kind, from, budget, json;
  ConfigOptions config;
  std::size_t members = 1, folds = 0;
  ReadOptions reading;
  int threads = 0;
  bool resume = false, force = false, claim = false;
};

// Names that cannot be written, before anything is read.
void check_names(const TrainArguments& options) {
  if (options.out.empty())
    throw Error("--out is missing: give the file where the model goes (or --folds)");
  check_files({options.data, options.config.file, options.from},
              {options.out, checkpoint_path(options.out), metrics_path(options.out),
               backward_path(options.out), checkpoint_path(backward_path(options.out)),
               metrics_path(backward_path(options.out)), options.json});
}

nlohmann::json to_json(const TrainResult& result, std::int64_t seed) {
  const EpochRow& best = best_epoch(result.rows);
  return {{"seed", seed},
          {"epochs", result.rows.back().epoch},
          {"stopped_early", result.stopped_early},
          {"out_of_time", result.out_of_time},
          {"best_epoch", best.epoch},
          {"validation_nll", best.validation_nll},
          {"validation_mse", best.validation_mse},
          {"validation_crps", best.validation_crps},
          {"validation_cross_entropy", best.validation_cross_entropy},
          {"validation_accuracy", best.validation_accuracy}};
}

nlohmann::json to_json(const TrainArguments& options, const app::TrainedModel& trained,
                       double seconds) {
  const Config& config = trained.model.config;
  nlohmann::json json{{"model", options.out},
                      {"parameters", trained.model.first().params.size()},
                      {"seconds", seconds},
                      {"config", to_json(config)},
                      {"members", nlohmann::json::array()}};
  for (std::size_t m = 0; m < trained.members.size(); ++m) {
    const TrainResult& own = trained.members[m];
    json["members"].push_back(to_json(own, config.train.seed + static_cast<std::int64_t>(m)));
    if (own.backward_rows.empty()) continue;
    const EpochRow& backward = best_epoch(own.backward_rows);
    json["members"].back()["backward"] = {{"epochs", own.backward_rows.back().epoch},
                                          {"best_epoch", backward.epoch},
                                          {"validation_nll", backward.validation_nll},
                                          {"validation_mse", backward.validation_mse}};
  }
  return json;
}

void print(std::FILE* text, const TrainArguments& options, const app::TrainedModel& trained,
           double seconds) {
  const Config& config = trained.model.config;
  const bool several = trained.members.size() > 1;
  for (std::size_t m = 0; m < trained.members.size(); ++m) {
    const TrainResult& own = trained.members[m];
    const EpochRow& best = best_epoch(own.rows);
    fmt::print(text, "{}: best epoch {} of {}, validation {}{}{}\n",
               several ? fmt::format("member {}", m + 1) : options.out, best.epoch,
               own.rows.back().epoch, validation_scores(best, only_classifies(config)),
               own.stopped_early ? "; stopped early, as it no longer improved" : "",
               several ? "" : fmt::format(" ({})", duration(seconds)));
    if (!own.backward_rows.empty())
      fmt::print(text, "  from the end: best epoch {} of {}, validation {}\n",
                 best_epoch(own.backward_rows).epoch, own.backward_rows.back().epoch,
                 validation_scores(best_epoch(own.backward_rows), false));
  }
  if (several)
    fmt::print(text, "{}: an ensemble of {} members ({})\n", options.out, options.members,
               duration(seconds));
}

void print(std::FILE* text, const app::ValidationComparison& comparison) {
  const auto print_task = [&](const std::optional<app::ComparedTask>& task, const char* name) {
    if (!task) return fmt::print(text, "validation, {}: none to evaluate\n", name);
    fmt::print(text, "validation, {}: CRPS {}, last value {}{}; 90 % intervals hold {:.0f} %\n",
               name, decimals(task->crps, 4), decimals(task->last_value_crps, 4),
               task->crps < task->last_value_crps ? "" : " (worse than the last value)",
               100 * task->coverage);
  };
  print_task(comparison.interpolation, "held-out values");
  print_task(comparison.extrapolation, "forecasts");
  if (!comparison.lost.empty())
    fmt::print(text, "note: carrying the last value forward does as well for {}\n",
               name_listing(comparison.lost));
  std::set<std::string> off;
  for (const app::FeatureCoverage& one : comparison.off)
    off.insert(fmt::format("{} ({:.0f} %)", one.feature, 100 * one.coverage));
  if (!off.empty())
    fmt::print(text, "note: 90 % intervals hold fewer than 80 % or more than 97 %: {}\n",
               fmt::join(off, ", "));
}

double budget_seconds(const std::string& text) {
  if (text.empty()) return 0;
  try {
    const double seconds = study::parse_budget(text).seconds;
    if (seconds > 0 && std::isfinite(seconds)) return seconds;
  } catch (const Error&) {
    // The search, whose words these are, also takes numbers of trials.
  }
  throw Error(fmt::format("--budget {}: give a time, as 90s, 10m or 2h", text));
}

app::SettingsRequest settings_of(const TrainArguments& options) {
  app::SettingsRequest request;
  if (!options.config.file.empty()) read_toml(options.config.file, request.base.emplace());
  request.assignments = options.config.assignments;
  if (!options.kind.empty()) request.assignments.push_back("model.kind=" + options.kind);
  return request;
}

// What is shown when the first run begins.
std::vector<std::string> opening_lines(const TrainArguments& options, const app::TrainPlan& plan,
                                       const Dataset& data, std::size_t threads) {
  std::vector<std::string> lines;
  if (plan.fitted) lines = choice_lines(*plan.fitted);
  if (!options.from.empty())
    lines.push_back(
        fmt::format("continued from {}: its features, scales, split and settings{}", options.from,
                    options.config.assignments.empty() ? "" : ", but for what --set says"));
  for (const std::string& note : plan.notes) lines.push_back(note_line(note));
  lines.push_back(fmt::format(
      "{}{} on {} series ({} validation, {} test), {}, {} parameters, {}",
      options.members > 1 ? fmt::format("{} members of ", options.members) : "",
      plan.model.config.model.kind, plan.parts.train.size(), plan.parts.validation.size(),
      plan.parts.test.size(), counted(data.features.size(), "feature"),
      plan.model.first().params.size(), counted(threads, "thread")));
  return lines;
}

// Of several runs, how the lines of one begin.
std::string name_of(const app::TrainingRun& run, std::size_t members) {
  if (members == 1) return run.backward ? "from the end" : "from the start";
  return fmt::format("member {} of {}{}", run.member + 1, members,
                     run.backward ? ", from the end" : "");
}

void train_model(const TrainArguments& options, app::TrainRequest request, Progress& progress,
                 ThreadPool& pool) {
  check_names(options);
  Model from;
  if (!options.from.empty()) {
    from = load_model(options.from);
    request.from = &from;
  }
  check(request);
  const Dataset data = request.from ? open_for(from, options.data, options.reading)
                                    : open_to_train(options.data, options.reading);
  app::TrainPlan plan = plan_training(data, request);
  // From here on Ctrl-C is noticed between batches; before, it ends the program at once.
  request.stop = &interrupt_flag("edict: stopped; --resume goes on after the last whole epoch\n");
  const bool smooth = plan.model.config.train.smooth;
  TrainingProgress shown(progress, plan.model.config, options.members * (smooth ? 2 : 1),
                         opening_lines(options, plan, data, pool.size()));
  shown.follow(request.progress);
  if (options.members > 1 || smooth)
    request.progress.on_run = [&](const app::TrainingRun& run) {
      shown.next(name_of(run, options.members));
    };
  const std::vector<std::size_t> validation = plan.parts.validation;
  const app::TrainedModel trained = train(std::move(plan), data, request, pool);
  progress.end();
  if (trained.interrupted) throw Interrupted();
  for (const std::string& note : trained.notes) progress.line(note_line(note));
  std::FILE* const text = text_stream({options.json});
  print(text, options, trained, progress.seconds());
  write_json(options.json, to_json(options, trained, progress.seconds()));
  if (trained.model.network->has_distribution())
    print(text, app::compare_with_last_value(trained.model, data, validation, pool));
}

void cross_validate_model(const TrainArguments& options, const app::SettingsRequest& settings,
                          Progress& progress, ThreadPool& pool) {
  app::CrossValidateRequest request;
  request.folds = options.folds;
  request.members = options.members;
  request.out = options.out;
  request.resume = options.resume;
  request.replace = options.force;
  request.claim = options.claim;
  check_files({}, {options.json});
  check(request);
  check(settings);
  const Dataset data = open_to_train(options.data, options.reading);
  const app::ChosenSettings chosen = choose_settings(settings, data);
  if (chosen.fitted)
    for (const std::string& line : choice_lines(*chosen.fitted)) progress.line(line);
  request.config = chosen.config;
  run_folds(std::move(request), options.json, data, pool, progress);
}

void run(const TrainArguments& options) {
  app::TrainRequest request;
  request.members = options.members;
  request.budget = budget_seconds(options.budget);
  request.settings = settings_of(options);
  request.from_name = options.from;
  request.out = options.out;
  request.resume = options.resume;
  request.replace = options.force;
  request.claim = options.claim;
  Progress progress("training");
  WorkPool pool(options.threads);
  if (options.folds > 0)
    cross_validate_model(options, request.settings, progress, pool);
  else
    train_model(options, std::move(request), progress, pool);
}

// "{edict,gru-d,…}"; the settings refuse any other.
std::string kinds() {
  std::string names;
  for (const ModelKind& kind : model_kinds())
    names += fmt::format("{}{}", names.empty() ? "" : ",", kind.name);
  return "{" + names + "}";
}

}  // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<TrainArguments>();
  CLI::App* command = app.add_subcommand("train", "Train a model on a CSV file");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  add_output(*command, "--out", options->out,
             "where the best model goes; beside it stand its "
             "checkpoint and its metrics (required, but with --folds a folder that is optional)")
      ->type_name("MODEL");
  command
      ->add_option("--members", options->members,
                   "train an ensemble of this many models from as many seeds into one file; where "
                   "they disagree, its uncertainty is larger")
      ->check(within(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--folds", options->folds,
                   "cross-validation instead of a model: trains as many, each judged on the series "
                   "of its fold; the test split takes no part. --out is the folder where they are "
                   "kept, if wanted")
      ->check(within(2, 1000));
  add_json(*command, options->json);
  command->add_option("--model", options->kind, "same as --set model.kind=…")->type_name(kinds());
  options->config.add_to(*command);
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command
      ->add_flag("--resume", options->resume,
                 "continue an interrupted run from its checkpoint, if there is one")
      ->excludes(command->add_flag("--force", options->force,
                                   "train anew even where the model exists already"));
  command
      ->add_option(
          "--budget", options->budget,
          "the time that training may take, as 90s, 10m or 2h; it then stops with the best epoch "
          "so far")
      ->type_name("TIME")
      ->excludes("--folds");
  command
      ->add_option("--from", options->from,
                   "start from this trained model instead of anew, with its settings, scales and "
                   "split; only train.… and loss.… may be set")
      ->type_name("MODEL")
      ->excludes("--config")
      ->excludes("--model")
      ->excludes("--members")
      ->excludes("--folds");
  command
      ->add_flag("--claim", options->claim,
                 "share the members or folds with other workers: every one runs this command with "
                 "the same --out, on any machine that sees it (docs/how-to/scale.md)")
      ->excludes("--from");
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
