#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "edict/cli/command.h"
#include "edict/cli/folds.h"
#include "edict/cli/progress.h"
#include "edict/cli/training_progress.h"
#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/core/interrupted.h"
#include "edict/model/registry.h"
#include "edict/sources/source.h"
#include "edict/train/ensemble_training.h"

namespace edict::cli {
namespace {

struct Options {
  std::string data, out, kind, json;
  ConfigOptions config;
  std::size_t members = 1, folds = 0;
  int threads = 0;
  bool resume = false, force = false;
};

void warn_about_time(const Model& model, const Dataset& data, Progress& progress) {
  std::vector<double> gaps;
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = data.first_event[i] + 1; e < data.first_event[i + 1]; ++e)
      gaps.push_back(data.times[e] - data.times[e - 1]);
  if (gaps.empty()) return;
  std::nth_element(gaps.begin(), gaps.begin() + gaps.size() / 2, gaps.end());
  const double steps = gaps[gaps.size() / 2] / model.protocol.time_unit / model.config.model.step;
  // A step costs the same whether or not anything happens in it.
  if (steps < 1e-3 || steps > 100)
    progress.line(
        fmt::format("note: the median gap between events is {:.3g} solver steps; "
                    "data.time_unit={:.3g} would make it about ten{}",
                    steps, gaps[gaps.size() / 2] / (10 * model.config.model.step),
                    steps > 100 ? ", and training faster by as much" : ""));
}

// Where a run finds what it had reached.
std::filesystem::path state_path(const Options& options) {
  return options.members > 1 ? members_path(options.out) : checkpoint_path(options.out);
}

FoldsRequest folds_of(const Options& options) {
  return {options.folds, options.members, options.out, options.json, options.resume, options.force};
}

void check(const Options& options) {
  if (options.folds > 0) return check_folds(folds_of(options));
  if (options.out.empty())
    throw Error("--out is missing: give the file where the model goes (or --folds)");
  check_files({options.data, options.config.file},
              {options.out, checkpoint_path(options.out), metrics_path(options.out), options.json});
  if (destination_of(options.out).kind != Destination::Kind::file)
    throw Error(fmt::format(
        "{}: a model needs a file, beside which its checkpoint and metrics stand; give its name",
        options.out));
  if (!options.resume && !options.force && std::filesystem::exists(options.out))
    throw Error(
        fmt::format("{}: exists already; give --resume to continue its training, --force to train "
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
  const EpochRow& best = best_epoch(result);
  return {{"seed", seed},
          {"epochs", result.rows.size()},
          {"stopped_early", result.stopped_early},
          {"best_epoch", best.epoch},
          {"validation_nll", best.validation_nll},
          {"validation_mse", best.validation_mse},
          {"validation_cross_entropy", best.validation_cross_entropy},
          {"validation_accuracy", best.validation_accuracy}};
}

void print(const Options& options, const EnsembleResult& result, double seconds) {
  const Config& config = result.model.config;
  const bool several = result.members.size() > 1;
  std::FILE* const text = text_stream({options.json});
  nlohmann::json json{{"model", options.out},
                      {"parameters", result.model.params.size()},
                      {"seconds", seconds},
                      {"config", to_json(config)}};
  for (std::size_t m = 0; m < result.members.size(); ++m) {
    const TrainResult& own = result.members[m];
    const EpochRow& best = best_epoch(own);
    json["members"].push_back(to_json(own, config.train.seed + static_cast<std::int64_t>(m)));
    fmt::print(text, "{}: best of {} epochs is {}, validation {}{}{}\n",
               several ? fmt::format("member {}", m + 1) : options.out, own.rows.size(), best.epoch,
               validation_scores(best, only_classifies(config)),
               own.stopped_early ? "; stopped early, since it no longer improves" : "",
               several ? "" : fmt::format(" ({})", duration(seconds)));
  }
  if (several)
    fmt::print(text, "{}: an ensemble of {} members ({})\n", options.out, options.members,
               duration(seconds));
  write_json(options.json, json);
}

void run(const Options& options) {
  Config config = options.config.resolve();
  if (!options.kind.empty()) assign(config, "model.kind=" + options.kind);
  check(options);
  Progress progress("training");
  const Dataset data = open_data(options.data);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  if (options.folds > 0) return run_folds(folds_of(options), config, data, pool);
  const Split parts = split(data, config.data);
  check_trainable(parts, config.data);
  const Model first = Model::create(config, data, parts);
  for (std::size_t j : never_observed(data, parts.train, first.protocol.t_cut))
    progress.line(fmt::format("note: feature '{}' is never observed in the training split",
                              data.features[j]));
  warn_about_time(first, data, progress);
  const bool several = options.members > 1;
  TrainingProgress shown(
      progress, config, options.members,
      fmt::format("{}{} on {} series ({} validation, {} test), {} features, {} parameters, {} "
                  "threads",
                  several ? fmt::format("{} members of ", options.members) : "", config.model.kind,
                  parts.train.size(), parts.validation.size(), parts.test.size(),
                  data.features.size(), first.params.size(), pool.size()));
  EnsembleOptions training;
  training.members = options.members;
  training.training.out = options.out;
  training.training.resume = options.resume;
  training.training.stop =
      &interrupt_flag("edict: stopped; --resume goes on after the last whole epoch\n");
  shown.follow(training.training);
  if (several)
    training.on_member = [&](std::size_t m) {
      shown.next(fmt::format("member {} of {}", m + 1, options.members));
    };
  const auto fresh = [&](std::int64_t seed) {
    Config own = config;
    own.train.seed = seed;
    return Model::create(own, data, parts);
  };
  const EnsembleResult result =
      train_ensemble(fresh, config.train.seed, data, parts, pool, training);
  progress.end();
  if (result.interrupted) throw Interrupted();
  print(options, result, progress.seconds());
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
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("train", "Train a model on a CSV file");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  add_output(*command, "--out", options->out,
             "where the best model goes; beside it stand its "
             "checkpoint and its metrics (required, but with --folds a folder that is optional)")
      ->type_name("MODEL");
  command
      ->add_option("--members", options->members,
                   "train an ensemble of this many models from as many seeds into one file; where "
                   "they disagree, its doubt is larger")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--folds", options->folds,
                   "cross-validation instead of a model: trains as many, each judged on the series "
                   "of its fold; the test split takes no part. --out is the folder where they are "
                   "kept, if wanted")
      ->check(CLI::Range(2, 1000));
  add_json(*command, options->json);
  command->add_option("--model", options->kind, "same as --set model.kind=…")->type_name(kinds());
  options->config.add_to(*command);
  add_threads(*command, options->threads);
  command
      ->add_flag("--resume", options->resume,
                 "continue an interrupted run from its checkpoint, if there is one")
      ->excludes(command->add_flag("--force", options->force,
                                   "train anew even where the model exists already"));
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
