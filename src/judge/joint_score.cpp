#include "judge/joint_score.h"

#include "ask/distribution.h"
#include "ask/joint.h"
#include "judge/judged_observation.h"

namespace edict {
namespace {

void add_mean(const JointSums::Nll& series, JointSums::Nll& to) {
  if (series.count == 0) return;
  to.together += series.together / series.count;
  to.alone += series.alone / series.count;
  to.count += 1;
}

std::optional<JointScore> mean(const JointSums::Nll& sums) {
  if (sums.count == 0) return std::nullopt;
  return JointScore{sums.together / sums.count, sums.alone / sums.count};
}

}  // namespace

JointSums::OfSeries JointSums::of(std::span<const JudgedObservation> observations) const {
  OfSeries own;
  if (correlations_.empty()) return own;
  each_event(correlations_, observations,
             [&](std::span<const JudgedObservation> event, const JointDistribution& distribution,
                 std::span<const double> observed) {
               Nll& to = event.front().extrapolated ? own.extrapolation : own.interpolation;
               to.together -= distribution.log_density(observed);
               for (const JudgedObservation& o : event)
                 to.alone -= log_density(o.expected, o.observed);
               to.count += static_cast<double>(event.size());
             });
  return own;
}

void JointSums::add(const OfSeries& series) {
  add_mean(series.interpolation, interpolation_);
  add_mean(series.extrapolation, extrapolation_);
}

JointScores JointSums::result() const { return {mean(interpolation_), mean(extrapolation_)}; }

}  // namespace edict
