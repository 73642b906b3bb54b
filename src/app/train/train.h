// Trains a model: anew or on from a trained one, a single one or an ensemble, within a time,
// resumed after an interruption, or shared with other workers. With the pool of several processes
// they train together (base/threads/ranks.h).
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/train/training_progress.h"
#include "app/train/training_settings.h"
#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict::app {

struct TrainRequest {
  SettingsRequest settings = {};
  // Starts from this model with its settings, scales and split; only train.… and loss.… may be
  // assigned.
  const Model* from = nullptr;
  std::string from_name = {};      // its file, in messages
  std::size_t members = 1;         // of an ensemble whose models differ by their seeds
  std::filesystem::path out = {};  // the best model so far; empty: kept in memory alone
  bool resume = false;             // continue from the checkpoint beside `out`, if any
  bool replace = false;            // a model that is there already
  bool claim = false;              // other workers train members of the same `out`
  double budget = 0;               // seconds from `begin`; 0: no limit
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  StopFlag stop = nullptr;
  TrainingProgress progress = {};
};

// Throws Error for what is wrong whatever the data are, before they are read.
void check(const TrainRequest& request);

// What is trained, known before the first epoch.
struct TrainPlan {
  Model model;  // with its first parameters; of an ensemble the first member
  Split parts;
  std::optional<FittedSettings> fitted = {};  // where the data decided
  std::vector<std::string> notes = {};  // what the reader should know of the data, in sentences
};

// The data have long series cut (cut_long_series), or are those of `request.from`: with its
// columns, and in pieces where it was trained on pieces.
TrainPlan plan_training(const Dataset& data, const TrainRequest& request);

struct TrainedModel {
  // Where it was interrupted, the best of the epochs that were complete; without any, and of an
  // ensemble, it must not be used.
  Model model;
  std::vector<TrainResult> members;  // those that were begun
  bool interrupted = false;
  std::vector<std::string> notes = {};  // how training went otherwise than intended, in sentences

  bool is_usable() const;
};

// Throws Error where the budget ends before an epoch does.
TrainedModel train(TrainPlan plan, const Dataset& data, const TrainRequest& request,
                   ThreadPool& pool);

}  // namespace edict::app
