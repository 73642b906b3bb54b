// What to do with an observation before it enters h(t). EDGR (the paper's algorithm 1) clips it to
// what the model holds plausible, the population clip to what the training data held plausible.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/heads/marginal.h"

namespace edict {

struct Guard {
  enum class Kind { none, edgr, population };
  enum class Deviation { epistemic, predictive };

  Kind kind = Kind::none;
  double eta = 1.96;
  Deviation deviation = Deviation::epistemic;

  bool active() const { return kind != Kind::none; }
};

// Mean and deviation of each feature in the training data, in the model's units; empty: 0 and 1.
struct Population {
  std::vector<double> mean, deviation;
};

// An observation that a guard changed, in the model's units.
struct Clipped {
  std::size_t stop;  // of the timeline
  std::int32_t feature;
  double raw, used;
  double sigmas;  // how far it was off
};

// An observation x of a feature as it may enter h(t); what is changed is appended to `clips`, if
// given. `expected` tells what the model expects of it and is asked only if the guard wants to
// know. This is the one place where observations are clipped.
template <class S, class Expected>
S guarded(const Guard& guard, const Population& population, std::int32_t feature, S x,
          const Expected& expected, std::size_t stop, std::vector<Clipped>* clips) {
  if (!guard.active()) return x;
  const auto j = static_cast<std::size_t>(feature);
  double centre = population.mean.empty() ? 0.0 : population.mean[j];
  double sigma = population.deviation.empty() ? 1.0 : population.deviation[j];
  if (guard.kind == Guard::Kind::edgr) {
    const Marginal m = expected();
    // A Gaussian does not tell the two apart: all of its variance is called aleatoric.
    const bool apart = guard.deviation == Guard::Deviation::epistemic && m.epistemic > 0;
    centre = m.mean;
    sigma = std::sqrt(apart ? m.epistemic : m.aleatoric + m.epistemic);
  }
  const auto raw = static_cast<double>(x);
  const double used = std::clamp(raw, centre - guard.eta * sigma, centre + guard.eta * sigma);
  if (used == raw) return x;
  if (clips) clips->push_back({stop, feature, raw, used, (raw - centre) / sigma});
  return static_cast<S>(used);
}

// Throws Error unless eta is a number of deviations, at least 0.
void check(const Guard& guard);

// "none", "edgr" and "pop-mean"; "epistemic" and "predictive". Throws Error for another name.
Guard::Kind guard_from_name(std::string_view name);
std::string_view name_of(Guard::Kind kind);
Guard::Deviation deviation_from_name(std::string_view name);

}  // namespace edict
