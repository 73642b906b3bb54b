// The whole state of a training run after an epoch, as a safetensors file: it is a model file (of
// the parameters at that epoch) with the optimiser, the best parameters and the metrics added.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "edict/train/trainer.h"

namespace edict {

struct Checkpoint {
  std::uint64_t fingerprint = 0;  // of the data
  std::int64_t epochs_done = 0;
  std::int64_t since_best = 0;
  std::vector<EpochRow> rows;
  Vector<float> best;
};

void save_checkpoint(const Checkpoint& state, const Model& model, const Adam& adam,
                     const std::filesystem::path& path);

// Fills model.params and adam; Error if the file belongs to other data or another configuration.
Checkpoint load_checkpoint(const std::filesystem::path& path, std::uint64_t fingerprint,
                           Model& model, Adam& adam);

void write_metrics(const std::vector<EpochRow>& rows, const std::filesystem::path& path);

}  // namespace edict
