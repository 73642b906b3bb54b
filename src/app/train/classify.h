// A model that also tells the data's classes apart, on top of a trained one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "judge/classes/classifier_evaluation.h"
#include "learn/classifier/classifier_training.h"
#include "model/model.h"

namespace edict::app {

struct ClassifyRequest {
  std::optional<ClassifySettings> base = {};  // of a file; none: the model's own
  std::vector<std::string> assignments = {};  // of classify.… and readout.…, which hold before both
  std::vector<std::int64_t> seeds = {};       // of the classifiers to choose among; empty: three
  bool evaluate = false;                      // the classes, on the validation split
  StopFlag stop = nullptr;
  std::function<void(std::size_t member)> on_member = {};  // before each, counted from 0
  // Of fine-tuning; row 0 is where it starts.
  std::function<void(std::int64_t epoch, std::int64_t batch, std::int64_t batches)> on_batch = {};
  std::function<void(const EpochRow&)> on_epoch = {};
};

// The settings of the classifiers. Throws Error for an assignment that the model cannot take,
// before data are read.
ClassifySettings settings_of(const ClassifyRequest& request, const Model& trained);

struct ClassifyResult {
  ClassifierResult classifier;  // its model is not to be used where it was interrupted
  std::optional<ClassifierEvaluation> validation;  // where requested and labels are there
  std::vector<std::string> notes;  // what the reader should know of the data, in sentences
};

// The data have the model's columns, and are in pieces where the model was trained on pieces.
ClassifyResult classify(const Model& trained, const Dataset& data, const ClassifyRequest& request,
                        ThreadPool& pool);

}  // namespace edict::app
