// The tables of a study, ours beside the published. Every form of them (page, Markdown, terminal,
// results.json) is made from these types.
#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/mean_std.h"
#include "research/report/published.h"
#include "research/study.h"

namespace edict::report {

enum class Verdict { better, equal, worse };

// equal: no further apart than the larger deviation and what rounding to `digits` decimals hides.
Verdict verdict(const MeanStd& ours, const MeanStd& published, bool lower_is_better, int digits);

// One number of ours and the same statistic as published. Without one of them no verdict.
struct Comparison {
  std::optional<MeanStd> ours, published;
  std::optional<Verdict> verdict;
  std::vector<std::string> runs;  // folders that ours comes from
};

struct DatasetRow {
  std::string title, name;
  std::size_t classes = 0, features = 0, series = 0, observations = 0;
  double events_per_series = 0;
  std::string time_unit;
  std::optional<PublishedDataset> published;
};

// Of the MSE deviations are over the series of the test split. The ECE of a split is one number:
// ours has a deviation, over trainings, only where there are several of them.
struct CalibrationRow {
  std::string dataset, method;
  Task task;
  Metric metric;
  Comparison value;
};

// In percent; deviations are over seeds.
struct ScoreRow {
  std::string dataset, method;
  std::optional<int> level;  // none: no noise at all, of which nothing is published
  Comparison value;
};

struct RunRow {
  std::string dataset, method, folder;
  std::int64_t seed = 0;
  std::optional<std::string> failure;
};

struct Results {
  std::vector<int> levels;
  std::vector<std::int64_t> seeds;
  std::vector<DatasetRow> datasets;
  std::vector<CalibrationRow> calibration;
  std::vector<ScoreRow> accuracy, auroc;
  std::vector<RunRow> runs;

  const std::vector<ScoreRow>& scores(Score score) const {
    return score == Score::accuracy ? accuracy : auroc;
  }
  std::vector<std::optional<int>> levels_and_none() const;  // no noise first
};

Results results_of(const study::Study& study);

// results.json
nlohmann::json to_json(const Results& results);

// The tables as Markdown; links lead to the run folders below `runs/`.
std::string results_markdown(const Results& results);

// A few lines for a terminal, with a key to the marks.
std::string results_text(const Results& results);

// "EDICT" under EDGR → "EDICT w/ EDGR", as the published tables name it.
std::string method_name(const std::string& method, Guard::Kind guard);

// Of one dataset, in order of appearance.
template <class Row>
std::vector<std::string> methods_of(const std::vector<Row>& rows, const std::string& dataset) {
  std::vector<std::string> methods;
  for (const Row& row : rows)
    if (row.dataset == dataset &&
        std::find(methods.begin(), methods.end(), row.method) == methods.end())
      methods.push_back(row.method);
  return methods;
}

// "0.124 ± 0.290", "0.124" where std is NaN; a dash where there is none.
std::string value_text(const std::optional<MeanStd>& value, int digits);

// " ▲", " ≈", " ▼", or nothing.
std::string mark(const std::optional<Verdict>& verdict);
std::string_view name_of(Verdict verdict);

inline constexpr int kCalibrationDigits = 3, kScoreDigits = 1;  // as published

}  // namespace edict::report
