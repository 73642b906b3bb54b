// The paper's tables (presets/published), to print our results beside.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "judge/mean_std.h"

namespace edict::report {

enum class Task { interpolation, extrapolation };
enum class Metric { mse, ece };
enum class Score { accuracy, auroc };  // in percent

std::string_view name_of(Task task);
std::string_view name_of(Metric metric);  // "MSE", "ECE"
std::string_view name_of(Score score);

struct PublishedDataset {
  long classes = 0, features = 0, series = 0;
};

class Published {
 public:
  // Those that travel with the program.
  static const Published& tables();

  std::optional<PublishedDataset> dataset(const std::string& dataset) const;
  // The deviation of the MSE is over series; of the ECE the paper does not say.
  std::optional<MeanStd> calibration(const std::string& dataset, const std::string& method,
                                     Task task, Metric metric) const;
  // The deviation is over seeds.
  std::optional<MeanStd> score(Score score, const std::string& dataset, const std::string& method,
                               int level) const;

 private:
  Published();

  std::map<std::string, PublishedDataset> datasets_;
  std::map<std::tuple<std::string, std::string, Task, Metric>, MeanStd> calibration_;
  std::map<std::tuple<Score, std::string, std::string, int>, MeanStd> scores_;
};

}  // namespace edict::report
