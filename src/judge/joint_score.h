// What a model's correlations are worth (ask/joint.h), by the log score of the same observations
// that `evaluate` judges: those of one moment together, in nats a value; mean over the values of a
// series, then over series.
#pragma once

#include <optional>
#include <span>

#include "model/correlations.h"

namespace edict {

struct JointScore {
  double together_nll;
  double alone_nll;  // as if features were independent: the NLL that `evaluate` tells
};

struct JointScores {
  std::optional<JointScore> interpolation, extrapolation;  // empty: nothing to judge
};

struct JudgedObservation;

// Their sums (judged_observation.h); without correlations, nothing.
class JointSums {
 public:
  explicit JointSums(const Correlations& correlations) : correlations_(correlations) {}

  struct Nll {
    double together = 0, alone = 0, count = 0;
  };
  struct OfSeries {
    Nll interpolation, extrapolation;
  };
  OfSeries of(std::span<const JudgedObservation> observations) const;
  void add(const OfSeries& series);
  JointScores result() const;

 private:
  const Correlations& correlations_;
  Nll interpolation_, extrapolation_;  // sums of series' means; series are counted
};

}  // namespace edict
