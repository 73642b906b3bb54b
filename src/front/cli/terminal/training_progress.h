// What a terminal shows while models are trained: one, or the members of an ensemble and the folds
// of a cross-validation one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/train/training_progress.h"
#include "front/cli/terminal/progress.h"

namespace edict::cli {

class TrainingProgress {
 public:
  // `runs`: how many models are trained in all; the lines of `header` are told once, when the first
  // one begins.
  TrainingProgress(Progress& progress, const Config& config, std::size_t runs,
                   std::vector<std::string> header);

  // The callbacks of these options; this object must outlive them.
  void follow(app::TrainingProgress& training);

  // The next of several runs begins; `name`, as "member 2 of 5", is told with its lines.
  void next(std::string name);

 private:
  void start(std::int64_t epochs_done);
  void batch(std::int64_t epoch, std::int64_t batch, std::int64_t batches, const LossSums& sums);
  void epoch(const EpochRow& row);

  Progress& progress_;
  const std::int64_t epochs_;
  const bool classes_only_;
  const std::size_t runs_;
  std::vector<std::string> header_;
  std::size_t run_ = 0;     // counted from 1 once `next` was called
  std::string name_;        // of the run, with a colon; empty where there is only one
  std::string validation_;  // of the last epoch
};

// "nll 0.1234, mse 0.01234", or of a model that only classifies, "cross-entropy …, accuracy …".
std::string validation_scores(const EpochRow& row, bool classes_only);
bool only_classifies(const Config& config);

}  // namespace edict::cli
