// Figures and tables of how good one model is: how it learnt, how calibrated it is, feature by
// feature, how well it tells classes apart, and what noise does to it.
#pragma once

#include <string>
#include <vector>

#include "judge/breakdown.h"
#include "judge/classes/classifier_evaluation.h"
#include "judge/evaluate.h"
#include "judge/stress.h"
#include "learn/trainer.h"

namespace edict::report {

// Training and validation loss over the epochs, and where the kept model is. Of classes where the
// run was judged by them. Empty without epochs.
std::string learning_figure(const std::vector<EpochRow>& rows);

// How often the central interval of each level held, and how wide it was on average.
std::string coverage_figure(const Evaluation& evaluation);
std::string width_figure(const Evaluation& evaluation);

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

// Accuracy against the noise level, a line a guard, ± one deviation over seeds.
std::string stress_figure(const StressResult& result);

}  // namespace edict::report
