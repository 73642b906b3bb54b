// `edict train --folds`: a cross-validation instead of a model.
#pragma once

#include <string>

#include "app/train/cross_validate.h"
#include "data/dataset.h"
#include "front/cli/terminal/progress.h"

namespace edict::cli {

// `json`: the file of the results, or empty.
void run_folds(app::CrossValidateRequest request, const std::string& json, const Dataset& data,
               ThreadPool& pool, Progress& progress);

}  // namespace edict::cli
