#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "edict/cli/command.h"
#include "edict/cli/given_data.h"
#include "edict/cli/progress.h"
#include "edict/cli/run_settings.h"
#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/core/interrupted.h"
#include "edict/sources/source.h"
#include "edict/study/search.h"
#include "edict/train/budget.h"
#include "edict/train/trainer.h"

namespace edict::cli {
namespace {

struct Options {
  std::string data, out, kind, from, budget;
  ConfigOptions config;
  int threads = 0;
  bool resume = false, force = false;
};

void warn_about_time(const Model& model, const Dataset& data, Progress& progress) {
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
    progress.line(
        fmt::format("note: the median gap between events is {:.3g} solver steps; "
                    "data.time_unit={:.3g} would make it about ten{}",
                    steps, gaps[gaps.size() / 2] / (10 * model.config.model.step),
                    steps > 100 ? ", and training faster by as much" : ""));
}

std::string class_scores(const EpochRow& row) {
  return fmt::format("cross-entropy {:.4f}, accuracy {:.4f}", row.validation_cross_entropy,
                     row.validation_accuracy);
}

void check(const Options& options) {
  check_files({options.data, options.config.file, options.from},
              {options.out, checkpoint_path(options.out), metrics_path(options.out)});
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
      !std::filesystem::exists(checkpoint_path(options.out)))
    throw Error(fmt::format(
        "{}: its checkpoint {} is missing, so its training cannot be continued; give --force to "
        "train anew and replace it, or another name",
        options.out, checkpoint_path(options.out).string()));
}

// What is trained, on what, and what there is to say before it begins.
struct Run {
  Dataset data;
  Split parts;
  Model model;
  std::vector<std::string> lines = {};
  bool chosen_for_data = false;
};

Run fresh_run(const Options& options) {
  // Settings that are wrong by themselves are refused before a long file is read.
  options.config.resolve();
  Dataset data = open_data(options.data);
  RunSettings settings = settings_for(options.config, options.kind, data);
  Split parts = split(data, settings.config.data);
  check_trainable(parts, settings.config.data);
  Model model = Model::create(settings.config, data, parts);
  return {std::move(data), std::move(parts), std::move(model), std::move(settings.lines),
          settings.chosen};
}

// Goes on from a trained model, with its settings: only how it is trained may differ.
Run warm_run(const Options& options) {
  Model model = load_model(options.from);
  if (model.network->has_distribution() && model.network->classes() > 0)
    throw Error(
        fmt::format("--from {}: it holds a classifier, which would not fit the states that change; "
                    "give the model that it was made of",
                    options.from));
  for (const std::string& assignment : options.config.assignments) {
    if (!assignment.starts_with("train.") && !assignment.starts_with("loss."))
      throw Error(fmt::format(
          "--set {}: the model of --from is made already; only train.… and loss.… can be set",
          assignment));
    assign(model.config, assignment);
  }
  validate(model.config);
  Dataset data = open_for(model, options.data);
  Split parts = model.split_to_train(data);
  check_trainable(parts, model.config.data);
  model.seen.add(data, parts, split_by(model.config.data));
  std::vector<std::string> lines = {
      fmt::format("continued from {}: its features, scales, split and settings{}", options.from,
                  options.config.assignments.empty() ? "" : ", but for what --set says")};
  return {std::move(data), std::move(parts), std::move(model), std::move(lines)};
}

bool given(const Options& options, std::string_view key) {
  return std::ranges::any_of(options.config.assignments, [&](const std::string& assignment) {
    return assignment.starts_with(key) && assignment.substr(key.size(), 1) == "=";
  });
}

std::string short_duration(double seconds) {
  return seconds < 10 ? fmt::format("{:.2g} s", seconds) : duration(seconds);
}

// The epochs that --budget has room for, into the model's settings. Epochs that were asked for are
// the most there will be; those chosen for the data may become three times as many.
void fit_to_budget(const Options& options, double seconds, double used, ThreadPool& pool,
                   StopFlag stop, Run& run) {
  TrainSettings& settings = run.model.config.train;
  if (options.resume && std::filesystem::exists(checkpoint_path(options.out))) {
    // The rate of the run that is continued was laid out already.
    const TrainSettings before = load_model(checkpoint_path(options.out)).config.train;
    settings.epochs = before.epochs;
    settings.patience = before.patience;
    return;
  }
  const bool free = run.chosen_for_data && !given(options, "train.epochs");
  const double epoch = measure_epoch(run.model, run.data, run.parts, pool, options.out, stop);
  const std::int64_t wished = settings.epochs;
  const std::int64_t epochs = epochs_within(seconds - used, epoch, wished * (free ? 3 : 1));
  if (epochs < 1)
    throw Error(fmt::format(
        "--budget {}: a single epoch takes about {} here; give more time, fewer series or a "
        "smaller model (model.hidden)",
        options.budget, short_duration(epoch)));
  settings.epochs = epochs;
  if (run.chosen_for_data && !given(options, "train.patience"))
    settings.patience = usual_patience(epochs);
  run.lines.push_back(
      fmt::format("budget: an epoch takes about {}; train.epochs={} fit into {}{}",
                  short_duration(epoch), epochs, duration(seconds),
                  epochs < wished ? fmt::format(", {} would be usual", wished) : std::string()));
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

void run(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const double seconds = budget_seconds(options.budget);
  check(options);
  Progress progress("training");
  Run run = options.from.empty() ? fresh_run(options) : warm_run(options);
  // From here on Ctrl-C is noticed between batches; before, it ends the program at once.
  const StopFlag stop =
      &interrupt_flag("edict: stopped; --resume goes on after the last whole epoch\n");
  const Dataset& data = run.data;
  const Split& parts = run.parts;
  Model& model = run.model;
  for (std::size_t j : never_observed(data, parts.train, model.protocol.t_cut))
    run.lines.push_back(fmt::format("note: feature '{}' is never observed in the training split",
                                    data.features[j]));
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  if (seconds > 0) {
    progress.begin("measuring an epoch");
    fit_to_budget(options, seconds, progress.seconds(), pool, stop, run);
  }
  const Config& config = model.config;
  const std::string header = fmt::format(
      "{} on {} series ({} validation, {} test), {} features, {} parameters, {} threads",
      config.model.kind, parts.train.size(), parts.validation.size(), parts.test.size(),
      data.features.size(), model.params.size(), pool.size());

  TrainOptions training;
  training.out = options.out;
  training.resume = options.resume;
  training.stop = stop;
  training.start_counts = !options.from.empty();
  if (seconds > 0)
    training.deadline = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                    std::chrono::duration<double>(seconds));
  const auto epochs = static_cast<double>(config.train.epochs);
  const bool classes_only = !model.network->has_distribution();
  std::string validation;
  training.on_start = [&](std::int64_t epochs_done) {
    for (const std::string& line : run.lines) progress.line(line);
    if (!run.chosen_for_data || given(options, "data.time_unit") || given(options, "model.step"))
      warn_about_time(model, data, progress);
    progress.line(header);
    if (epochs_done > 0) progress.line(fmt::format("continued after epoch {}", epochs_done));
    if (epochs_done < config.train.epochs) progress.begin(fmt::format("epoch {}", epochs_done + 1));
  };
  training.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                          const LossSums& sums) {
    const double n = std::max(1.0, sums.observations);
    const std::string losses =
        classes_only
            ? fmt::format("cross-entropy {:.4f}", sums.classification / std::max(1.0, sums.series))
            : fmt::format("nll {:.3f}  kl {:.3f}  evidence {:.3f}", sums.nll / n, sums.kl / n,
                          sums.evidence / n);
    progress.update((static_cast<double>(epoch - 1) +
                     static_cast<double>(batch) / static_cast<double>(batches)) /
                        epochs,
                    fmt::format("epoch {}  {}{}", epoch, losses, validation));
  };
  training.on_epoch = [&](const EpochRow& row) {
    if (classes_only) {
      validation = fmt::format("  | validation {}", class_scores(row));
      progress.line(fmt::format("epoch {:3}  cross-entropy {:.4f}  | validation {}{}", row.epoch,
                                row.cross_entropy, class_scores(row), row.best ? "  best" : ""));
      return;
    }
    validation = fmt::format("  | validation nll {:.3f}  mse {:.4f}", row.validation_nll,
                             row.validation_mse);
    if (row.epoch == 0) {  // of the model that training starts from
      progress.line(fmt::format("before: validation nll {:.4f}, mse {:.5f}", row.validation_nll,
                                row.validation_mse));
      return;
    }
    const std::string judged =
        fmt::format("  | validation nll {:8.4f}  mse {:.5f}{}", row.validation_nll,
                    row.validation_mse, row.best ? "  best" : "");
    const std::string learnt = fmt::format("epoch {:3}  nll {:8.4f}", row.epoch, row.nll);
    const std::string whole =
        fmt::format("{}  kl {:7.4f}  evidence {:7.3f}{}", learnt, row.kl, row.evidence, judged);
    progress.line(progress.too_wide(whole.size()) ? learnt + judged : whole);
  };
  const TrainResult result = train(model, data, parts, pool, training);
  progress.end();
  if (result.interrupted) throw Interrupted();
  if (result.stopped_early) progress.line("stopped early: validation no longer improves");
  if (result.out_of_time) {
    if (result.rows.empty())
      throw Error(fmt::format("--budget {}: over before the first epoch was; give more time",
                              options.budget));
    progress.line(fmt::format("out of time after {} of {} epochs; the best of them is kept",
                              result.rows.back().epoch, config.train.epochs));
  }
  const EpochRow* best = nullptr;
  for (const EpochRow& row : result.rows)
    if (row.best) best = &row;
  fmt::print("{}: best of {} epochs is {}, validation {} ({})\n", options.out,
             result.rows.back().epoch, best->epoch,
             classes_only ? class_scores(*best)
                          : fmt::format("nll {:.4f}, mse {:.5f}", best->validation_nll,
                                        best->validation_mse),
             duration(progress.seconds()));
}

}  // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("train", "Train a model on a CSV file");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  add_output(*command, "--out", options->out,
             "where the best model goes; beside it stand its "
             "checkpoint and its metrics")
      ->required()
      ->type_name("MODEL");
  command->add_option("--model", options->kind, "same as --set model.kind=…");
  options->config.add_to(*command);
  add_threads(*command, options->threads);
  command
      ->add_flag("--resume", options->resume,
                 "continue an interrupted run from its checkpoint, if there is one")
      ->excludes(command->add_flag("--force", options->force,
                                   "train anew even where the model exists already"));
  command
      ->add_option("--budget", options->budget,
                   "the time that training may take, as 90s, 10m or 2h: the number of epochs is "
                   "fitted to it and recorded in the model")
      ->type_name("TIME");
  command
      ->add_option("--from", options->from,
                   "start from this trained model instead of anew, with its settings, scales and "
                   "split; only train.… and loss.… may be set")
      ->type_name("MODEL")
      ->excludes("--config")
      ->excludes("--model");
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
