// Trains a model: epochs of shuffled batches, Adam, validation after each epoch, the best model
// kept, and a checkpoint from which a run continues bit for bit. With train.smooth a second run
// follows, of the network that reads series from their end, in files of its own beside the model's.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "base/threads/interrupted.h"
#include "base/threads/thread_pool.h"
#include "engine/network.h"
#include "learn/training_set.h"
#include "model/model.h"

namespace edict {

// One line of the metrics file. Losses are per observation, cross-entropies per labelled series;
// what a run does not learn or is not judged by stays 0.
struct EpochRow {
  std::int64_t epoch = 0;
  double learning_rate = 0;
  double nll = 0, kl = 0, evidence = 0, loss = 0;
  double validation_nll = 0, validation_mse = 0;
  bool best = false;
  double cross_entropy = 0, validation_cross_entropy = 0, validation_accuracy = 0;
  double validation_crps = 0;  // only where it is the criterion
};

struct TrainOptions {
  std::filesystem::path out;  // the best model; empty: keep it in memory only
  bool resume = false;        // continue from the checkpoint beside `out`, if any
  StopFlag stop = nullptr;    // set by Ctrl-C: leave after the current batch, or earlier
  bool start_counts = false;  // the parameters given may be the best: they are row 0
  // No epoch goes on after it, and none begins that would probably have to.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // Before the first batch, with the number of epochs that a checkpoint holds already.
  std::function<void(std::int64_t epochs_done)> on_start;
  std::function<void(std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                     const LossSums& so_far)>
      on_batch;
  std::function<void(const EpochRow&)> on_epoch;
  std::function<void()> on_backward;  // before the run of the backward network, which calls these
};

struct TrainResult {
  std::vector<EpochRow> rows;
  bool interrupted = false;  // rows, model and checkpoint are those of the last complete epoch
  bool stopped_early = false;
  bool out_of_time = false;                  // the deadline came before the last epoch; likewise
  std::int64_t resumed_from = 0;             // finished epochs found in the checkpoint
  std::vector<EpochRow> backward_rows = {};  // of the backward network, judged by its own side
  std::int64_t skipped_batches = 0;          // whose gradients were not finite
  bool validated = true;  // false: nothing to validate by, the last epoch is kept
};

// Trains `model` (fresh from Model::create) and leaves the best parameters in it: on the
// distribution if it predicts one, else on the classes.
TrainResult train(Model& model, const Dataset& data, const Split& split, ThreadPool& pool,
                  const TrainOptions& options);

// The same loop over another set and other settings, in memory only: `options.out` must be empty.
TrainResult train(Model& model, const TrainingSet& set, const TrainSettings& settings,
                  ThreadPool& pool, const TrainOptions& options);

// Where a run keeps its state and its metrics.
std::filesystem::path checkpoint_path(const std::filesystem::path& out);
std::filesystem::path metrics_path(const std::filesystem::path& out);
// The model that the run of the backward network keeps, beside which its own state stands.
std::filesystem::path backward_path(const std::filesystem::path& out);

}  // namespace edict
