#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/files/atomic_file.h"
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
#include "judge/detailed_evaluation.h"
#include "learn/ensemble_training.h"
#include "learn/warm_start.h"
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

void warn_about_time(const Model& model, const Dataset& data, std::vector<std::string>& lines) {
  if (model.config.model.propagator != "gru-ode") return;  // has no steps
  std::vector<double> gaps;
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = data.first_event[i] + 1; e < data.first_event[i + 1]; ++e)
      gaps.push_back(data.times[e] - data.times[e - 1]);
  if (gaps.empty()) return;
  std::nth_element(gaps.begin(), gaps.begin() + gaps.size() / 2, gaps.end());
  const double steps = gaps[gaps.size() / 2] / model.protocol.time_unit / model.config.model.step;
  // A step costs the same whether or not anything happens in it.
  if (steps < 1e-3 || steps > 100)
    lines.push_back(
        fmt::format("note: the median gap between events is {:.3g} solver steps; "
                    "data.time_unit={:.3g} would make it about ten{}",
                    steps, gaps[gaps.size() / 2] / (10 * model.config.model.step),
                    steps > 100 ? ", and training faster by as much" : ""));
}

// Where a run finds what it had reached.
std::filesystem::path state_path(const TrainArguments& options) {
  return options.members > 1 ? members_path(options.out) : checkpoint_path(options.out);
}

FoldsRequest folds_of(const TrainArguments& options) {
  return {options.folds,  options.members, options.out,  options.json,
          options.resume, options.force,   options.claim};
}

void check(const TrainArguments& options) {
  if (options.folds > 0) return check_folds(folds_of(options));
  if (options.out.empty())
    throw Error("--out is missing: give the file where the model goes (or --folds)");
  check_files({options.data, options.config.file, options.from},
              {options.out, checkpoint_path(options.out), metrics_path(options.out),
               backward_path(options.out), checkpoint_path(backward_path(options.out)),
               metrics_path(backward_path(options.out)), options.json});
  if (destination_of(options.out).kind != Destination::Kind::file)
    throw Error(fmt::format(
        "{}: a model needs a file, beside which its checkpoint and metrics stand; give its name",
        options.out));
  if (options.claim && options.members < 2)
    throw Error(
        "--claim shares the members of an ensemble or the folds of a cross-validation "
        "among workers; give --members or --folds with it");
  if (options.claim && !options.budget.empty())
    throw Error("--claim and --budget cannot be combined; leave one of them out");
  if (!options.resume && !options.claim && !options.force && std::filesystem::exists(options.out))
    throw Error(
        fmt::format("{}: already exists; give --resume to continue its training, --force to train "
                    "anew and replace it, or another name",
                    options.out));
  if (options.resume && std::filesystem::exists(options.out) &&
      !std::filesystem::exists(state_path(options)))
    throw Error(fmt::format(
        "{}: its checkpoint {} is missing, so its training cannot be continued; give --force to "
        "train anew and replace it, or another name",
        options.out, state_path(options).string()));
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

void print(const TrainArguments& options, const EnsembleResult& result, double seconds) {
  const Config& config = result.model.config;
  const bool several = result.members.size() > 1;
  std::FILE* const text = text_stream({options.json});
  nlohmann::json json{{"model", options.out},
                      {"parameters", result.model.params.size()},
                      {"seconds", seconds},
                      {"config", to_json(config)},
                      {"members", nlohmann::json::array()}};
  for (std::size_t m = 0; m < result.members.size(); ++m) {
    const TrainResult& own = result.members[m];
    const EpochRow& best = best_epoch(own.rows);
    json["members"].push_back(to_json(own, config.train.seed + static_cast<std::int64_t>(m)));
    if (!own.backward_rows.empty()) {
      const EpochRow& backward = best_epoch(own.backward_rows);
      json["members"].back()["backward"] = {{"epochs", own.backward_rows.back().epoch},
                                            {"best_epoch", backward.epoch},
                                            {"validation_nll", backward.validation_nll},
                                            {"validation_mse", backward.validation_mse}};
    }
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
  if (config.train.smooth && result.model.fusion.empty())
    fmt::print(
        text,
        "note: the validation split has too few hidden values to weight the two sides; the model "
        "uses the past alone\n");
  if (several)
    fmt::print(text, "{}: an ensemble of {} members ({})\n", options.out, options.members,
               duration(seconds));
  write_json(options.json, json);
}

// What is trained, on what, and what there is to say before it begins.
struct Run {
  Dataset data;
  Split parts;
  Model model;
  std::vector<std::string> lines = {};
  bool chosen_for_data = false;
};

Run fresh_run(const TrainArguments& options) {
  // Settings that are wrong by themselves are refused before a long file is read.
  options.config.resolve();
  Dataset data = open_to_train(options.data, options.reading);
  RunSettings settings = settings_for(options.config, options.kind, data);
  Split parts = split(data, settings.config.data);
  check_trainable(parts, settings.config.data);
  Model model = Model::create(settings.config, data, parts);
  return {std::move(data), std::move(parts), std::move(model), std::move(settings.lines),
          settings.chosen};
}

// Goes on from a trained model, with its settings: only how it is trained may differ.
Run warm_run(const TrainArguments& options) {
  Model model =
      warm_start(load_model(options.from), options.config.assignments, "--from " + options.from);
  Dataset data = open_for(model, options.data, options.reading);
  Split parts = split_for_more_training(model, data);
  std::vector<std::string> lines = {
      fmt::format("continued from {}: its features, scales, split and settings{}", options.from,
                  options.config.assignments.empty() ? "" : ", but for what --set says")};
  return {std::move(data), std::move(parts), std::move(model), std::move(lines)};
}

bool given(const TrainArguments& options, std::string_view key) {
  return std::ranges::any_of(options.config.assignments, [&](const std::string& assignment) {
    return assignment.starts_with(key) && assignment.substr(key.size(), 1) == "=";
  });
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

void note_training(const TrainResult& result, Progress& progress) {
  if (result.skipped_batches > 0)
    progress.line(fmt::format(
        "note: {} batch{} had no finite gradient and {} skipped; the learning rate was lowered",
        result.skipped_batches, result.skipped_batches == 1 ? "" : "es",
        result.skipped_batches == 1 ? "was" : "were"));
  if (!result.validated)
    progress.line("note: the validation split has no observation; the last epoch is kept");
}

double coverage_of_90(const Scores& scores) {
  const auto level = std::ranges::find(kToldLevels, 0.9);
  return scores.coverage[static_cast<std::size_t>(level - kToldLevels.begin())];
}

// What the model is worth on the validation split beside the last value carried forward.
void compare_with_last_value(const Model& model, const Dataset& data,
                             std::span<const std::size_t> validation, ThreadPool& pool,
                             std::FILE* text) {
  constexpr std::size_t kFewest = 50;  // observations of a feature, to name its coverage
  const Breakdown breakdown = evaluate_in_detail(model, data, validation, pool).breakdown;
  std::vector<std::string> lost, off;
  const auto compare = [&](const std::optional<TaskBreakdown>& task, const char* name) {
    if (!task || task->all.observations == 0) {
      fmt::print(text, "validation, {}: none to evaluate\n", name);
      return;
    }
    const double own = task->all.model.crps, last = task->all.last_value.crps;
    fmt::print(text, "validation, {}: CRPS {}, last value {}{}; 90 % intervals hold {:.0f} %\n",
               name, decimals(own, 4), decimals(last, 4),
               own < last ? "" : " (worse than the last value)",
               100 * coverage_of_90(task->all.model));
    for (const ScoredGroup& feature : task->features) {
      const auto place = std::ranges::find(model.features, feature.name) - model.features.begin();
      if (is_unlearnt(model.config.model, static_cast<std::size_t>(place))) continue;
      if (!(feature.model.crps < feature.last_value.crps)) lost.push_back(feature.name);
      const double held = coverage_of_90(feature.model);
      if (feature.observations >= kFewest && !(held >= 0.8 && held <= 0.97))
        off.push_back(fmt::format("{} ({:.0f} %)", feature.name, 100 * held));
    }
  };
  compare(breakdown.interpolation, "held-out values");
  compare(breakdown.extrapolation, "forecasts");
  for (auto* names : {&lost, &off}) {
    std::ranges::sort(*names);
    names->erase(std::ranges::unique(*names).begin(), names->end());
  }
  if (!lost.empty())
    fmt::print(text, "note: carrying the last value forward does as well for {}\n",
               name_listing(lost));
  if (!off.empty())
    fmt::print(text, "note: 90 % intervals hold fewer than 80 % or more than 97 %: {}\n",
               fmt::join(off, ", "));
}

// Features of which nothing is learnt.
void note_features(Run& run) {
  const auto note = [&](const std::vector<std::size_t>& features, const char* one,
                        const char* several) {
    if (features.empty()) return;
    std::vector<std::string> names;
    for (const std::size_t j : features) names.push_back(run.model.features[j]);
    run.lines.push_back(fmt::format("note: feature{} {} {}", names.size() == 1 ? "" : "s",
                                    name_listing(names), names.size() == 1 ? one : several));
  };
  note(never_observed(run.data, run.parts.train,
                      [&](std::size_t i) { return run.model.protocol.cut_of(run.data, i); }),
       "is never observed in the training split", "are never observed in the training split");
  note(run.model.config.model.unchanging,
       "hardly ever changes: the forecast is its last value, nothing else is learnt of it",
       "hardly ever change: the forecast is their last value, nothing else is learnt of them");
  note(run.model.config.model.sporadic,
       "is nearly always the same: the forecast is its mean, nothing else is learnt of it",
       "are nearly always the same: the forecast is their mean, nothing else is learnt of them");
}

void run(const TrainArguments& options) {
  const auto begin = std::chrono::steady_clock::now();
  const double seconds = budget_seconds(options.budget);
  check(options);
  Progress progress("training");
  WorkPool pool(options.threads);
  if (options.folds > 0) {
    options.config.resolve();
    const Dataset data = open_to_train(options.data, options.reading);
    const RunSettings settings = settings_for(options.config, options.kind, data);
    for (const std::string& line : settings.lines) progress.line(line);
    return run_folds(folds_of(options), settings.config, data, pool);
  }
  Run run = options.from.empty() ? fresh_run(options) : warm_run(options);
  // From here on Ctrl-C is noticed between batches; before, it ends the program at once.
  const StopFlag stop =
      &interrupt_flag("edict: stopped; --resume goes on after the last whole epoch\n");
  note_features(run);
  if (!run.chosen_for_data || given(options, "data.time_unit") || given(options, "model.step"))
    warn_about_time(run.model, run.data, run.lines);

  const Config config = run.model.config;
  const bool several = options.members > 1;
  run.lines.push_back(
      fmt::format("{}{} on {} series ({} validation, {} test), {}, {} parameters, {}",
                  several ? fmt::format("{} members of ", options.members) : "", config.model.kind,
                  run.parts.train.size(), run.parts.validation.size(), run.parts.test.size(),
                  counted(run.data.features.size(), "feature"), run.model.params.size(),
                  counted(pool.size(), "thread")));
  const bool smooth = config.train.smooth;
  TrainingProgress shown(progress, config, options.members * (smooth ? 2 : 1), run.lines);
  EnsembleOptions training;
  training.members = options.members;
  training.training.out = options.out;
  training.training.resume = options.resume;
  training.claim = options.claim;
  training.training.stop = stop;
  training.training.start_counts = !options.from.empty();
  // A tenth is left to what follows the last epoch.
  if (seconds > 0)
    training.training.deadline =
        begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                    std::chrono::duration<double>(0.9 * seconds));
  shown.follow(training.training);
  std::string name = "from the start";  // of the run
  training.on_member = [&](std::size_t m) {
    if (several) name = fmt::format("member {} of {}", m + 1, options.members);
    if (several || smooth) shown.next(name);
  };
  training.training.on_backward = [&] {
    shown.next(several ? name + ", from the end" : "from the end");
  };
  const auto member = [&](std::int64_t seed) {
    if (!several) return std::move(run.model);
    Config own = config;
    own.train.seed = seed;
    return Model::create(own, run.data, run.parts);
  };
  const EnsembleResult result =
      train_ensemble(member, config.train.seed, run.data, run.parts, pool, training);
  progress.end();
  if (result.interrupted) throw Interrupted();
  for (const TrainResult& own : result.members) {
    if (!own.out_of_time) continue;
    if (own.rows.empty())
      throw Error(fmt::format("--budget {}: ended before the first epoch did; give more time",
                              options.budget));
    const bool improving = own.rows.back().best;
    progress.line(fmt::format(
        "stopped by --budget after {} of {} epochs; {}", own.rows.back().epoch, config.train.epochs,
        improving ? "it was still improving: more time would help" : "the best is kept"));
  }
  for (const TrainResult& own : result.members) note_training(own, progress);
  print(options, result, progress.seconds());
  if (result.model.network->has_distribution())
    compare_with_last_value(result.model, run.data, run.parts.validation, pool,
                            text_stream({options.json}));
}

// "{edict,gru-d,…}": what a mistyped one is told by the settings.
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
