// How a classifier holds as noise rises, with and without guards.
#pragma once

#include <string>

#include "app/evaluated_series.h"
#include "base/threads/thread_pool.h"
#include "judge/stress.h"
#include "model/model.h"

namespace edict::app {

struct StressRequest {
  StressOptions sweep = {};  // guards: none means all that the model can serve
  double eta = 1.96;         // of those, in deviations
  Guard::Deviation deviation = Guard::Deviation::epistemic;
  std::string split = "test";
};

struct StressReport {
  EvaluatedSeries evaluated;
  StressResult result;
};

// The data have the model's columns, and are in pieces where the model was trained on pieces.
StressReport stress(const Model& model, const Dataset& data, const StressRequest& request,
                    ThreadPool& pool);

}  // namespace edict::app
