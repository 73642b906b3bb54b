// The judged observations of an evaluation taken apart: by feature, and by how long before them the
// series was last observed. Beside every score stand those of two forecasts that need no model.
//
// Here every observation counts once (Evaluation takes means over series instead). Everything is in
// the model's units: standardised, unless data.standardise is off.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "judge/calibration_metrics.h"
#include "model/model.h"

namespace edict {

inline constexpr std::array<double, 3> kToldLevels{0.5, 0.9, 0.95};

// NaN where a forecast has no such score.
struct Scores {
  double mse, mae, nll, crps;
  std::array<double, kToldLevels.size()> coverage;  // of the central intervals of kToldLevels
};

struct ScoredGroup {
  std::string name;  // of a feature, or of a range of horizons
  std::size_t observations = 0;
  double unit = 1.0;  // of a feature: one unit here is so much in the data's own
  Scores model;
  // The last observed value of the feature, a single number and so without density and intervals;
  // the training mean where there was none yet.
  Scores last_value;
  // A Gaussian with the mean and deviation that the feature has in the training data.
  Scores training_mean;
};

// Whether one of the two has no larger a mean squared error than the model.
bool beaten(const ScoredGroup& group);

struct TaskBreakdown {
  ScoredGroup all;
  std::vector<ScoredGroup> features;   // that were judged, in the model's order
  std::vector<ScoredGroup> horizons;   // ascending; last what nothing was observed before
  std::array<double, kPitBins> pit{};  // share of the observations in each bin of F(x)
};

struct Breakdown {
  std::vector<double> horizon_edges;  // in the data's unit of time
  std::optional<TaskBreakdown> interpolation, extrapolation;
};

struct JudgedObservation;

// Its sums (judged_observation.h).
class BreakdownSums {
 public:
  // A horizon belongs to the first range whose edge it does not exceed. Throws Error where edges do
  // not ascend from above 0.
  BreakdownSums(const Model& model, std::vector<double> horizon_edges);

  struct Record {
    std::size_t feature;
    double horizon;
    bool extrapolated;
    double probability;  // F(x)
    Scores model, last_value, training_mean;
  };
  using OfSeries = std::vector<Record>;
  OfSeries of(std::span<const JudgedObservation> observations) const;
  void add(const OfSeries& series);
  Breakdown result() const;

 private:
  const Model& model_;
  std::vector<double> edges_;
  TaskBreakdown interpolation_, extrapolation_;  // of sums; groups may be empty
};

// Round numbers that divide the horizons of what would be judged about evenly. Nothing is inferred.
std::vector<double> even_horizon_edges(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series, ThreadPool& pool);

}  // namespace edict
