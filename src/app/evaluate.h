// How good a model is on data: its distributions, and its classes where series have labels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/evaluated_series.h"
#include "base/threads/thread_pool.h"
#include "judge/classes/classifier_evaluation.h"
#include "judge/detailed_evaluation.h"

namespace edict::app {

struct EvaluateRequest {
  std::string split = "test";
  Guard guard = {};
  bool both_sides = false;         // interpolation from both sides; needs a fusion (train.smooth)
  std::vector<double> horizons{};  // where ranges of horizons end; empty: chosen by the data
  bool by_group = false;           // scores by feature or horizon are needed
  std::string positive{};          // the class of AUROC and curves; empty: chosen
  std::string model_name = "the model";  // in messages
  StopFlag stop = nullptr;
};

// Throws Error for a request that the model cannot serve.
void check(const EvaluateRequest& request, const Model& model);

struct EvaluateResult {
  EvaluatedSeries evaluated;
  std::optional<DetailedEvaluation> distributions;  // of a model that predicts them
  std::optional<ClassifierEvaluation> classes;
  std::string class_note;  // why there are no classes although the model has a classifier
};

// The data have the model's columns, and are in pieces where the model was trained on pieces.
EvaluateResult evaluate(const Model& model, const Dataset& data, const EvaluateRequest& request,
                        ThreadPool& pool);

}  // namespace edict::app
