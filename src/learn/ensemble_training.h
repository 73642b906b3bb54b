// Trains an ensemble: members that start from train.seed, train.seed + 1, … on the same split, one
// after the other. A single model is the ensemble of one, and its training is `train` alone.
//
// Each member is a run of its own in the folder <out>.members, where its model, its checkpoint and
// its metrics stand as 1.model, 1.model.checkpoint, …: a run that was killed goes on with the
// member and the epoch it had reached, and a finished ensemble can be given more members. When all
// are trained, `out` is written. With train.calibrate the ensemble is
// calibrated once more, since calibrated members that disagree are too wide together; with
// train.smooth each member has two runs, and what all of them say from either side is fused. Of a
// deadline every member has an equal share of the time that is left when it begins.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "learn/trainer.h"

namespace edict {

struct EnsembleOptions {
  std::size_t members = 1;
  TrainOptions training;  // of each; `out` is the ensemble's
  bool claim = false;     // others train members of the same ensemble at the same `out`
  std::function<void(std::size_t member)> on_member;  // before each, counted from 0
};

struct EnsembleResult {
  Model model;                       // not to be used where it was interrupted
  std::vector<TrainResult> members;  // those that were begun
  bool interrupted = false;
};

// `fresh` makes a member to be trained, from its seed. Throws what `train` throws.
EnsembleResult train_ensemble(const std::function<Model(std::int64_t seed)>& fresh,
                              std::int64_t seed, const Dataset& data, const Split& split,
                              ThreadPool& pool, const EnsembleOptions& options);
// The same with members that these settings make, from their train.seed on.
EnsembleResult train_ensemble(const Config& config, const Dataset& data, const Split& split,
                              ThreadPool& pool, const EnsembleOptions& options);

// The row of the best epoch.
const EpochRow& best_epoch(std::span<const EpochRow> rows);

// The folder of the members of an ensemble that goes to `out`, and the model of one in it, counted
// from 0.
std::filesystem::path members_path(const std::filesystem::path& out);
std::filesystem::path member_path(const std::filesystem::path& out, std::size_t member);

}  // namespace edict
