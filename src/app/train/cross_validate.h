// k-fold cross-validation: as many models as folds, each judged on the series of its fold, which
// neither trained nor chose it (protocol/folds.h). Where series have labels, a classifier is
// trained on each and judged too.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/train/training_progress.h"
#include "base/threads/thread_pool.h"
#include "judge/classes/classification_metrics.h"
#include "judge/evaluate.h"
#include "judge/mean_std.h"
#include "model/config.h"

namespace edict::app {

struct CrossValidateRequest {
  Config config = {};
  std::size_t folds = 5;
  std::size_t members = 1;  // of an ensemble in each fold
  // Where the models are kept, as fold-1.model and, with a classifier, fold-1.clf; empty: nowhere.
  std::filesystem::path out = {};
  bool resume = false;   // go on from what is there
  bool replace = false;  // models that are there already
  bool claim = false;    // others work on folds in the same folder (base/files/claims.h)
  StopFlag stop = nullptr;
  TrainingProgress progress = {};
};

// Throws Error for what is wrong whatever the data are, before they are read.
void check(const CrossValidateRequest& request);

struct FoldResult {
  std::size_t train = 0, validation = 0, judged = 0;   // series
  std::optional<Evaluation> evaluation;                // of a model with a distribution
  std::optional<ClassificationResult> classification;  // where series have labels
};

struct CrossValidation {
  std::vector<FoldResult> folds;
  bool interrupted = false;  // the folds are then not all there
};

CrossValidation cross_validate(const Dataset& data, const CrossValidateRequest& request,
                               ThreadPool& pool);

// A metric of all folds that have it.
struct FoldMetric {
  std::string name;  // "interpolation nll", "accuracy"
  MeanStd over_folds;
  std::vector<double> folds;  // NaN where a fold has none
};
std::vector<FoldMetric> fold_metrics(const CrossValidation& result);

// {"folds": [...], "metrics": {name: {mean, std, folds}}}.
nlohmann::json to_json(const CrossValidation& result);

}  // namespace edict::app
