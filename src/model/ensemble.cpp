#include "model/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace edict {

Marginal mixture(std::span<const Marginal> members) {
  const auto n = static_cast<double>(members.size());
  Marginal sum{0, 0, 0, 0, 0};
  double scale2 = 0, least_dof = std::numeric_limits<double>::infinity();
  for (const Marginal& m : members) {
    sum.mean += m.mean;
    sum.aleatoric += m.aleatoric;
    sum.epistemic += m.epistemic;
    scale2 += m.scale * m.scale;
    least_dof = std::min(least_dof, m.dof);
  }
  const double mean = sum.mean / n;
  double disagreement = 0;
  for (const Marginal& m : members) disagreement += (m.mean - mean) * (m.mean - mean);
  disagreement /= n;
  scale2 = scale2 / n + disagreement;
  Marginal whole{mean, sum.aleatoric / n, sum.epistemic / n + disagreement, std::sqrt(scale2),
                 least_dof};
  const double variance = whole.aleatoric + whole.epistemic;
  // Below this share of the variance the difference is rounding: a Gaussian.
  constexpr double kRounding = 1e-9;
  if (least_dof > 2.0 && std::isfinite(variance))
    whole.dof = variance - scale2 > kRounding * variance ? 2.0 * variance / (variance - scale2)
                                                         : std::numeric_limits<double>::infinity();
  return whole;
}

std::vector<Clipped> all_clips(std::span<const Answer* const> members) {
  struct Sum {
    Clipped clip;
    double used = 0, count = 0;
  };
  std::map<std::pair<std::size_t, std::int32_t>, Sum> clips;  // by stop and feature
  for (const Answer* member : members)
    for (const Clipped& clip : member->clips) {
      Sum& sum = clips.try_emplace({clip.stop, clip.feature}, Sum{clip}).first->second;
      sum.used += clip.used;
      sum.count += 1;
      if (std::abs(clip.sigmas) > std::abs(sum.clip.sigmas)) sum.clip.sigmas = clip.sigmas;
    }
  const auto n = static_cast<double>(members.size());
  std::vector<Clipped> all;
  for (auto& [_, sum] : clips) {
    sum.clip.used = (sum.used + (n - sum.count) * sum.clip.raw) / n;
    all.push_back(sum.clip);
  }
  return all;
}

Answer mixture(std::span<const Answer* const> members, std::size_t hidden) {
  const Answer& first = *members.front();
  Answer whole;
  std::vector<Marginal> own(members.size());
  whole.marginals.reserve(first.marginals.size());
  for (std::size_t k = 0; k < first.marginals.size(); ++k) {
    for (std::size_t m = 0; m < members.size(); ++m) own[m] = members[m]->marginals[k];
    whole.marginals.push_back(mixture(own));
  }
  whole.states.reserve(first.states.size() * members.size());
  for (std::size_t at = 0; at < first.states.size(); at += hidden)
    for (const Answer* member : members)
      whole.states.insert(whole.states.end(), member->states.data() + at,
                          member->states.data() + at + hidden);
  whole.clips = all_clips(members);
  return whole;
}

}  // namespace edict
