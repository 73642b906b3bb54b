// Intervals, quantiles and probabilities of what is predicted, at the level that a request wants.
#pragma once

#include <cstddef>
#include <vector>

#include "app/predict/predict.h"
#include "ask/joint.h"

namespace edict::app {

class PredictionInterval {
 public:
  PredictionInterval(const PredictRequest& request, const Model& model);

  // The level that the interval needs this long after the series was last observed (in the model's
  // time). Throws Error beyond what was calibrated.
  double level_at(std::size_t feature, double since) const;

  // The row's bounds at its level, its quantiles and its limits, which last until the next row.
  void fill(const Marginal& marginal, PredictedFeature& row);
  void fill(const Conditional& given, PredictedFeature& row);

 private:
  template <class Distribution>
  void fill_limits(const Distribution& found, PredictedFeature& row);

  const PredictRequest& request_;
  const Calibration* conformal_;  // whose promise the level is; null: plain intervals
  double time_unit_;
  // Of scale 1: quantiles are a root search, and a function of dof and level, which the features of
  // a time usually share.
  double dof_ = kNaN, level_ = kNaN, half_ = 0;
  std::vector<double> standard_;
  std::vector<double> quantiles_, limits_;  // of the last row
};

}  // namespace edict::app
