// The tables of a study, ours beside the published: as JSON, from which every other form is made.
//
//   datasets     {dataset, classes, features, series, events_per_series, published}
//   calibration  {dataset, method, task, metric, ours, published, verdict, runs}
//   accuracy, auroc (percent)  {dataset, method, level (null: no noise at all), ours, …}
//   runs         {dataset, method, seed, folder, failure}
//
// ECE is that of the whole split, without a deviation; `per_series` has the mean, deviation and
// floor of the series' own. `ours` and `published` are {mean, std} or null; `runs` are the folders
// a number comes from.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edict/eval/mean_std.h"
#include "edict/study/study.h"

namespace edict {

// "better", "equal" (no further apart than the larger deviation and what rounding to `digits`
// decimals hides) or "worse".
const char* verdict(const MeanStd& ours, const MeanStd& published, bool lower_is_better,
                    int digits);

// "EDICT" under EDGR → "EDICT w/ EDGR", as the published tables name it.
std::string method_name(const std::string& method, Guard::Kind guard);

nlohmann::json results_of(const Study& study);

// The tables as Markdown; links lead to the run folders below `runs/`.
std::string results_markdown(const nlohmann::json& results);

// A few lines for a terminal.
std::string results_text(const nlohmann::json& results);

// Of one dataset, in order of appearance; `rows` is a table of the results.
std::vector<std::string> methods_of(const nlohmann::json& rows, const std::string& dataset);

// "0.124 ± 0.290"; a dash for null.
std::string value_text(const nlohmann::json& value, int digits);

}  // namespace edict
