// The paper's tables (presets/published), to print our results beside.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "edict/eval/mean_std.h"

namespace edict {

struct PublishedDataset {
  long classes = 0, features = 0, series = 0;
};

class Published {
 public:
  // Those that travel with the program.
  static const Published& tables();

  std::optional<PublishedDataset> dataset(const std::string& dataset) const;
  // Task "interpolation" or "extrapolation", metric "MSE" or "ECE"; std over series.
  std::optional<MeanStd> calibration(const std::string& dataset, const std::string& method,
                                     const std::string& task, const std::string& metric) const;
  // Score "accuracy" or "auroc", in percent; std over seeds.
  std::optional<MeanStd> score(const std::string& score, const std::string& dataset,
                               const std::string& method, int level) const;

 private:
  Published();

  std::map<std::string, PublishedDataset> datasets_;
  std::map<std::string, MeanStd> values_;  // by the fields above, joined
};

}  // namespace edict
