// Results of an evaluation as text for a terminal.
#pragma once

#include <string>

#include "judge/breakdown.h"
#include "judge/classes/classifier_evaluation.h"

namespace edict::cli {

// With so many decimals, or with three digits where it would fill the line.
std::string decimals(double value, int count);

// The model beside the forecasts that need none.
std::string baselines_text(const Breakdown& breakdown, const std::string& kind);

enum class By { feature, horizon };
std::string breakdown_text(const Breakdown& breakdown, By by);

std::string classifier_text(const ClassifierEvaluation& evaluation);

}  // namespace edict::cli
