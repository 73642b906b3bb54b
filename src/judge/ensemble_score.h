// What an ensemble gains over its members, by the log score of the same observations that
// `evaluate` judges: mean over the observations of a series, then over series.
#pragma once

#include <optional>
#include <span>

namespace edict {

struct EnsembleScore {
  double mixture_nll;  // of the exact mixture of the members' distributions
  double members_nll;  // of the members, each by itself, on average: never below mixture_nll
  // Share of the epistemic variance that the members' disagreement makes up, over all observations.
  double disagreement;
};

struct EnsembleScores {
  std::optional<EnsembleScore> interpolation, extrapolation;  // empty: nothing to judge
};

struct JudgedObservation;

// Their sums (judged_observation.h); of a single model, nothing.
class EnsembleSums {
 public:
  struct Task {
    double mixture = 0, members = 0, disagreement = 0, epistemic = 0, count = 0;
  };
  struct OfSeries {
    Task interpolation, extrapolation;
  };
  static OfSeries of(std::span<const JudgedObservation> observations);
  void add(const OfSeries& series);
  EnsembleScores result() const;

 private:
  // Log scores as sums of series' means, variances as sums over all; series are counted.
  Task interpolation_, extrapolation_;
};

}  // namespace edict
