// How well classes are told apart, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "judge/classes/classification_metrics.h"
#include "judge/classes/classifier_evaluation.h"
#include "judge/classes/ranking_curves.h"

namespace edict {

nlohmann::json to_json(const CurvePoint& point);
void from_json(const nlohmann::json& json, CurvePoint& point);
nlohmann::json to_json(const ClassificationResult& result);
void from_json(const nlohmann::json& json, ClassificationResult& result);
nlohmann::json to_json(const ReliabilityBin& bin);
void from_json(const nlohmann::json& json, ReliabilityBin& bin);
nlohmann::json to_json(const ClassScores& scores);
void from_json(const nlohmann::json& json, ClassScores& scores);
nlohmann::json to_json(const PriorScores& scores);
void from_json(const nlohmann::json& json, PriorScores& scores);
nlohmann::json to_json(const ClassifierEvaluation& evaluation);
void from_json(const nlohmann::json& json, ClassifierEvaluation& evaluation);

}  // namespace edict
