// All that an evaluation found as one JSON object.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "judge/classes/classifier_evaluation.h"
#include "judge/detailed_evaluation.h"

namespace edict {

// Evaluation's fields, and breakdown, ensemble, joint and classifier, null where there is none. Of
// a model without a distribution only the last three.
nlohmann::json evaluation_json(const std::optional<DetailedEvaluation>& distributions,
                               const std::optional<ClassifierEvaluation>& classes);

}  // namespace edict
