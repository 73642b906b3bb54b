// Figures and tables of how good one model is: how it learnt, how calibrated it is, feature by
// feature, and how well it tells classes apart.
#pragma once

#include <string>
#include <vector>

#include "judge/breakdown.h"
#include "judge/classes/classifier_evaluation.h"
#include "learn/trainer.h"

namespace edict::report {

// Training and validation loss over the epochs, and where the kept model is. Of classes where the
// run was judged by them. Empty without epochs.
std::string learning_figure(const std::vector<EpochRow>& rows);

// Histogram of F(x), as a density: 1 everywhere for a calibrated model.
std::string pit_figure(const TaskBreakdown& task, const std::string& title);

// MSE of the model and of the forecasts that need none, over the horizon.
std::string horizon_figure(const TaskBreakdown& task, const std::string& title);

// A row a group, as an HTML table.
std::string scores_table(const std::vector<ScoredGroup>& groups, const std::string& what);

std::string roc_figure(const ClassifierEvaluation& evaluation);
std::string precision_recall_figure(const ClassifierEvaluation& evaluation);
std::string reliability_figure(const ClassifierEvaluation& evaluation);

// Confusion, and the classifier beside always answering the shares.
std::string confusion_table(const ClassifierEvaluation& evaluation);
std::string classifier_table(const ClassifierEvaluation& evaluation);

}  // namespace edict::report
