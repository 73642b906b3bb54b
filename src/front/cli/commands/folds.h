// `edict train --folds`: a cross-validation instead of a model.
#pragma once

#include <string>

#include "base/threads/thread_pool.h"
#include "data/dataset.h"
#include "model/config.h"

namespace edict::cli {

struct FoldsRequest {
  std::size_t folds = 0, members = 1;
  std::string out, json;  // the folder of the models, if they are to be kept; the results' file
  bool resume = false, force = false, claim = false;
};

// Refuses what could not be written, before anything is read.
void check_folds(const FoldsRequest& request);

void run_folds(const FoldsRequest& request, const Config& config, const Dataset& data,
               ThreadPool& pool);

}  // namespace edict::cli
