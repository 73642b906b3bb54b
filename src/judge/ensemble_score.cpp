#include "judge/ensemble_score.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "judge/calibration_metrics.h"
#include "judge/judged_observation.h"
#include "model/ensemble.h"

namespace edict {
namespace {

double negative_log_score(const Marginal& marginal, double x) {
  SeriesCalibration one;
  one.add(marginal, x);
  return one.nll;
}

void add_observation(std::span<const Marginal> members, double x, EnsembleSums::Task& to) {
  const auto n = static_cast<double>(members.size());
  std::vector<double> scores;
  double own = 0;
  for (const Marginal& m : members) {
    scores.push_back(negative_log_score(m, x));
    to.members += scores.back() / n;
    own += m.epistemic / n;
  }
  // −log Σ exp(−scoreᵢ)/n, from the best score on, so that nothing underflows.
  const double best = *std::min_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double score : scores) sum += std::exp(best - score);
  to.mixture += best - std::log(sum / n);
  const double both = mixture(members).epistemic;
  to.epistemic += both;
  to.disagreement += both - own;
  to.count += 1;
}

void add_series(const EnsembleSums::Task& series, EnsembleSums::Task& to) {
  if (series.count == 0) return;
  to.mixture += series.mixture / series.count;
  to.members += series.members / series.count;
  to.disagreement += series.disagreement;
  to.epistemic += series.epistemic;
  to.count += 1;
}

std::optional<EnsembleScore> score_of(const EnsembleSums::Task& sums) {
  if (sums.count == 0) return std::nullopt;
  return EnsembleScore{sums.mixture / sums.count, sums.members / sums.count,
                       sums.epistemic > 0 ? sums.disagreement / sums.epistemic : 0.0};
}

}  // namespace

EnsembleSums::OfSeries EnsembleSums::of(std::span<const JudgedObservation> observations) {
  OfSeries own;
  for (const JudgedObservation& o : observations)
    if (!o.members.empty())
      add_observation(o.members, o.observed,
                      o.extrapolated ? own.extrapolation : own.interpolation);
  return own;
}

void EnsembleSums::add(const OfSeries& series) {
  add_series(series.interpolation, interpolation_);
  add_series(series.extrapolation, extrapolation_);
}

EnsembleScores EnsembleSums::result() const {
  return {score_of(interpolation_), score_of(extrapolation_)};
}

}  // namespace edict
