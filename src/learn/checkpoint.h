// The whole state of a training run after an epoch, as a safetensors file: it is a model file (of
// the parameters at that epoch) with the optimiser, the best parameters and the metrics added.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "learn/adam.h"
#include "learn/trainer.h"

namespace edict {

struct Checkpoint {
  std::uint64_t fingerprint = 0;  // of the data
  std::int64_t epochs_done = 0;
  std::int64_t since_best = 0;
  std::vector<EpochRow> rows;
  Vector<float> best;
  Vector<float> average = {};  // of the weights (train.average); empty without
  double rate_factor = 1.0;    // on the learning rate, after numbers that were not finite
  std::int64_t skipped_batches = 0;
};

void save_checkpoint(const Checkpoint& state, const Model& model, const Adam& adam,
                     const std::filesystem::path& path);

// Of all that a checkpoint file holds but the checksum itself, which is metadata of it. A byte that
// changed among the numbers gives a run that goes on and ends somewhere else: only this can tell.
std::string checkpoint_checksum(const TensorFile& file);

// Fills the model's parameters and adam. Throws Error, which says to start without --resume, if the
// file is damaged or belongs to other data or to another configuration. train.epochs may differ
// where the learning rate does not depend on it.
Checkpoint load_checkpoint(const std::filesystem::path& path, std::uint64_t fingerprint,
                           Model& model, Adam& adam);

void write_metrics(const std::vector<EpochRow>& rows, const std::filesystem::path& path);
// What write_metrics wrote. Throws Error where it is something else.
std::vector<EpochRow> read_metrics(const std::filesystem::path& path);

}  // namespace edict
