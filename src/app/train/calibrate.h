// Calibrates a trained model's distributions on series that its weights were not trained on, and
// says what that changed.
#pragma once

#include <string>

#include "base/threads/thread_pool.h"
#include "judge/detailed_evaluation.h"
#include "model/model.h"

namespace edict::app {

struct CalibrateRequest {
  // "validation": of the training, or "unseen": new ones, which count as seen afterwards.
  std::string split = "validation";
};

// Throws Error for a request that the model cannot serve.
void check(const CalibrateRequest& request, const Model& model);

struct CalibrateResult {
  Model model;
  // The series that the scores below are of: those that did not fit the calibration, or where there
  // are too few, all.
  std::size_t judged = 0;
  bool judged_by_all = false;
  Evaluation before;
  DetailedEvaluation after;
};

// The data have the model's columns, and are in pieces where the model was trained on pieces.
CalibrateResult calibrate(Model model, const Dataset& data, const CalibrateRequest& request,
                          ThreadPool& pool);

}  // namespace edict::app
