#include "edict/train/budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "edict/core/error.h"
#include "edict/model/fit_settings.h"
#include "edict/train/ensemble_training.h"
#include "edict/train/trainer.h"

namespace edict {
namespace {

// A twentieth of the series, but no fewer batches than these: the first one is slower.
constexpr double kMeasuredShare = 0.05, kMeasuredBatches = 4;
// Of the time, left to what is not an epoch (recalibration, files) and to a busier machine.
constexpr double kReserve = 0.1;
// Written after an epoch: checkpoint, metrics and model.
constexpr double kFiles = 3;

// Every n-th entry, as Agendas::every takes them.
std::vector<std::int32_t> every(const std::vector<std::int32_t>& all, double stride) {
  std::vector<std::int32_t> some;
  for (double at = 0; at < static_cast<double>(all.size()); at += stride)
    some.push_back(all[static_cast<std::size_t>(at)]);
  return some;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Of one file, which waits for the disk: of a small model that is most of an epoch.
double writing_seconds(const Model& model, const std::filesystem::path& out) {
  const std::filesystem::path tried = out.string() + ".measured";
  const auto begin = std::chrono::steady_clock::now();
  save_model(model, tried);
  const double taken = seconds_since(begin);
  std::filesystem::remove(tried);
  return taken;
}

}  // namespace

double measure_epoch(const Model& model, const Dataset& data, const Split& split, ThreadPool& pool,
                     const std::filesystem::path& out, StopFlag stop) {
  Model copy = Model::create(model.config, data, split);
  TrainingSet set = copy.network->has_distribution() ? distribution_training_set(copy, data, split)
                                                     : class_training_set(copy, data, split);
  TrainSettings settings = model.config.train;
  settings.epochs = 1;
  const auto series = static_cast<double>(set.train.size());
  const double wanted =
      std::max(kMeasuredShare * series, kMeasuredBatches * static_cast<double>(settings.batch));
  const double stride = std::max(1.0, series / wanted);
  set.train = set.train.every(stride);
  const double share = static_cast<double>(set.train.size()) / series;
  set.train_labels = every(set.train_labels, stride);
  set.validation = set.validation.every(stride);
  set.validation_labels = every(set.validation_labels, stride);
  TrainOptions options;
  options.stop = stop;
  const auto begin = std::chrono::steady_clock::now();
  if (train(copy, set, settings, pool, options).interrupted) throw Interrupted();
  const double taken = seconds_since(begin);
  return taken / share + (out.empty() ? 0.0 : kFiles * writing_seconds(copy, out));
}

std::int64_t epochs_within(double seconds, double epoch_seconds, std::int64_t most) {
  const double fit =
      std::max(0.0, std::floor((1 - kReserve) * seconds / std::max(epoch_seconds, 1e-9)));
  return fit >= static_cast<double>(most) ? most : static_cast<std::int64_t>(fit);
}

BudgetedEpochs fit_to_budget(Model& model, const Dataset& data, const Split& split,
                             ThreadPool& pool, const Budget& budget, StopFlag stop) {
  TrainSettings& settings = model.config.train;
  if (budget.resume && !budget.out.empty()) {
    const std::filesystem::path first =
        checkpoint_path(budget.members > 1 ? member_path(budget.out, 0) : budget.out);
    if (std::filesystem::exists(first)) {
      // The rate of the run that is continued was laid out already.
      const TrainSettings before = load_model(first).config.train;
      settings.epochs = before.epochs;
      settings.patience = before.patience;
      return {0.0, before.epochs, before.epochs};
    }
  }
  const double epoch = measure_epoch(model, data, split, pool, budget.out, stop);
  const std::int64_t wished = settings.epochs;
  const double runs = static_cast<double>(budget.members) * (settings.smooth ? 2.0 : 1.0);
  const std::int64_t epochs =
      epochs_within(budget.seconds / runs, epoch, wished * (budget.epochs_are_free ? 3 : 1));
  if (epochs < 1)
    throw Error(fmt::format(
        "the budget is too small: a single epoch takes about {:.2g} s here; give more time, fewer "
        "series or a smaller model (model.hidden)",
        epoch));
  settings.epochs = epochs;
  if (budget.patience_is_free) settings.patience = usual_patience(epochs);
  return {epoch, wished, epochs};
}

}  // namespace edict
