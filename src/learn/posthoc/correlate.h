// Finds which features err together (model/correlations.h) from normal scores of observations that
// a model was not shown.
//
// Pair by pair, over the moments at which both were observed, r = Σw·ab / √(Σw·a²·Σw·b²). How far r
// would be off by chance is told by what each series contributes to it, whose observations are no
// independent evidence: with var its variance over series, r is drawn towards 0 by the positive
// part of 1 − var/r² (James & Stein). Pairs of few moments or series count as 0. Eigenvalues are
// then bounded below, which makes one matrix of what was estimated pair by pair.
#pragma once

#include <cstddef>
#include <vector>

#include "model/correlations.h"

namespace edict {

struct ScoredObservation {
  std::size_t series, stop;  // those of one moment share both
  std::size_t feature;
  double score;
  double weight;  // the same for all of a moment
};

// In any order, at most one a feature and moment. Empty where no pair tells anything.
Correlations fit_correlations(std::vector<ScoredObservation> observations, std::size_t features);

}  // namespace edict
