// Means, calibration, and the scores of ensembles and of several features together, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "judge/calibration_metrics.h"
#include "judge/ensemble_score.h"
#include "judge/evaluate.h"
#include "judge/joint_score.h"
#include "judge/mean_std.h"

namespace edict {

nlohmann::json to_json(const MeanStd& value);
void from_json(const nlohmann::json& json, MeanStd& value);
nlohmann::json to_json(const CalibrationResult& result);
void from_json(const nlohmann::json& json, CalibrationResult& result);
nlohmann::json to_json(const Evaluation& evaluation);
void from_json(const nlohmann::json& json, Evaluation& evaluation);
nlohmann::json to_json(const EnsembleScore& score);
nlohmann::json to_json(const EnsembleScores& scores);
nlohmann::json to_json(const JointScore& score);
nlohmann::json to_json(const JointScores& scores);

}  // namespace edict
