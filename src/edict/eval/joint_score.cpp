#include "edict/eval/joint_score.h"

#include <vector>

#include "edict/core/error.h"
#include "edict/core/json_values.h"
#include "edict/eval/distribution.h"
#include "edict/eval/joint.h"
#include "edict/eval/judged_observation.h"

namespace edict {
namespace {

struct NllSums {
  double together = 0, alone = 0, count = 0;
};

// The observations of a series, gathered moment by moment.
class MomentSums {
 public:
  void add(const Correlations& correlations, const JudgedObservation& o) {
    if (!features_.empty() && o.moment != moment_) finish(correlations);
    moment_ = o.moment;
    extrapolated_ = o.extrapolated;
    features_.push_back(static_cast<std::size_t>(o.feature));
    marginals_.push_back(o.expected);
    x_.push_back(o.x);
  }

  // Counts the moment that was gathered last.
  void finish(const Correlations& correlations) {
    if (features_.empty()) return;
    NllSums& to = extrapolated_ ? extrapolation : interpolation;
    to.together -= JointDistribution(correlations, features_, marginals_).log_density(x_);
    for (std::size_t i = 0; i < x_.size(); ++i) to.alone -= log_density(marginals_[i], x_[i]);
    to.count += static_cast<double>(x_.size());
    features_.clear();
    marginals_.clear();
    x_.clear();
  }

  NllSums interpolation, extrapolation;

 private:
  std::size_t moment_ = 0;
  bool extrapolated_ = false;
  std::vector<std::size_t> features_;
  std::vector<Marginal> marginals_;
  std::vector<double> x_;
};

std::optional<JointScore> mean_over_series(std::span<const MomentSums> series,
                                           NllSums MomentSums::*task) {
  JointScore score{0, 0};
  double judged = 0;
  for (const MomentSums& all : series) {
    const NllSums& own = all.*task;
    if (own.count == 0) continue;
    score.together_nll += own.together / own.count;
    score.alone_nll += own.alone / own.count;
    judged += 1;
  }
  if (judged == 0) return std::nullopt;
  return JointScore{score.together_nll / judged, score.alone_nll / judged};
}

}  // namespace

JointScores joint_scores(const Model& model, const Dataset& data,
                         std::span<const std::size_t> series, ThreadPool& pool, const Guard& guard,
                         Sides sides) {
  const Correlations& correlations = model.calibration.correlations;
  if (correlations.empty()) throw Error("a model without correlations has nothing to compare");
  std::vector<MomentSums> sums(series.size());
  each_judged_observation(
      model, data, series, pool, guard, nullptr, sides,
      [&](std::size_t i, const JudgedObservation& o) { sums[i].add(correlations, o); });
  for (MomentSums& own : sums) own.finish(correlations);
  return {mean_over_series(sums, &MomentSums::interpolation),
          mean_over_series(sums, &MomentSums::extrapolation)};
}

nlohmann::json to_json(const JointScore& score) {
  return {{"together_nll", score.together_nll}, {"alone_nll", score.alone_nll}};
}

nlohmann::json to_json(const JointScores& scores) {
  return {{"interpolation", json_or_null(scores.interpolation)},
          {"extrapolation", json_or_null(scores.extrapolation)}};
}

}  // namespace edict
