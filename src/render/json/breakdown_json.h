// Scores by feature and horizon as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "judge/breakdown.h"

namespace edict {

nlohmann::json to_json(const Scores& scores);
void from_json(const nlohmann::json& json, Scores& scores);
nlohmann::json to_json(const ScoredGroup& group);
void from_json(const nlohmann::json& json, ScoredGroup& group);
nlohmann::json to_json(const TaskBreakdown& task);
void from_json(const nlohmann::json& json, TaskBreakdown& task);
nlohmann::json to_json(const Breakdown& breakdown);
void from_json(const nlohmann::json& json, Breakdown& breakdown);

}  // namespace edict
