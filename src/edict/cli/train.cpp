#include <fmt/core.h>

#include <algorithm>

#include "edict/cli/command.h"
#include "edict/cli/progress.h"
#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/core/interrupted.h"
#include "edict/sources/source.h"
#include "edict/train/trainer.h"

namespace edict::cli {
namespace {

struct Options {
  std::string data, out, kind;
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
  check_files({options.data, options.config.file},
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

void run(const Options& options) {
  Config config = options.config.resolve();
  if (!options.kind.empty()) assign(config, "model.kind=" + options.kind);
  check(options);
  Progress progress("training");
  const Dataset data = open_data(options.data);
  const Split parts = split(data, config.data);
  check_trainable(parts, config.data);
  Model model = Model::create(config, data, parts);
  for (std::size_t j : never_observed(data, parts.train, model.protocol.t_cut))
    progress.line(fmt::format("note: feature '{}' is never observed in the training split",
                              data.features[j]));
  warn_about_time(model, data, progress);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  const std::string header = fmt::format(
      "{} on {} series ({} validation, {} test), {} features, {} parameters, {} threads",
      config.model.kind, parts.train.size(), parts.validation.size(), parts.test.size(),
      data.features.size(), model.params.size(), pool.size());

  TrainOptions training;
  training.out = options.out;
  training.resume = options.resume;
  training.stop = &interrupt_flag("edict: stopped; --resume goes on after the last whole epoch\n");
  const auto epochs = static_cast<double>(config.train.epochs);
  const bool classes_only = !model.network->has_distribution();
  std::string validation;
  training.on_start = [&](std::int64_t epochs_done) {
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
    progress.line(fmt::format(
        "epoch {:3}  nll {:8.4f}  kl {:7.4f}  evidence {:7.3f}  | validation nll {:8.4f}  mse "
        "{:.5f}{}",
        row.epoch, row.nll, row.kl, row.evidence, row.validation_nll, row.validation_mse,
        row.best ? "  best" : ""));
  };
  const TrainResult result = train(model, data, parts, pool, training);
  progress.end();
  if (result.interrupted) throw Interrupted();
  if (result.stopped_early) progress.line("stopped early: validation no longer improves");
  const EpochRow* best = nullptr;
  for (const EpochRow& row : result.rows)
    if (row.best) best = &row;
  fmt::print("{}: best of {} epochs is {}, validation {} ({})\n", options.out, result.rows.size(),
             best->epoch,
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
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
