// How a command that judges a model also judges its classes, where there is anything to judge by.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/classes/classifier_evaluation.h"

namespace edict::cli {

struct JudgedClasses {
  std::optional<ClassifierEvaluation> result;
  std::string note;  // why there is none although the model has classes; else empty
};

// Labels that the model does not know are no reason to tell nothing of its distributions; they are
// an Error where nothing else is judged, or where a positive class was asked for.
JudgedClasses judged_classes(const Model& model, const Dataset& data,
                             const std::vector<std::size_t>& series, ThreadPool& pool,
                             const Guard& guard = {}, const std::string& positive = {});

}  // namespace edict::cli
