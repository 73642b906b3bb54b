// How far a training is, for those who watch: the runs it consists of, their epochs and batches.
#pragma once

#include <cstdint>
#include <functional>

#include "learn/trainer.h"

namespace edict::app {

// One run of the trainer: of a fold, of a member of an ensemble, and with train.smooth of the
// network that reads series from their end. Folds and members are counted from 0.
struct TrainingRun {
  std::size_t fold = 0, member = 0;
  bool backward = false;
};

struct TrainingProgress {
  std::function<void(const TrainingRun&)> on_run = {};  // before each
  // Before a run's first batch, with the number of epochs that a checkpoint holds already.
  std::function<void(std::int64_t epochs_done)> on_start = {};
  std::function<void(std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                     const LossSums& so_far)>
      on_batch = {};
  std::function<void(const EpochRow&)> on_epoch = {};
};

}  // namespace edict::app
