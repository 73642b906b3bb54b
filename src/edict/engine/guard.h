// What to do with an observation before it enters h(t). EDGR (the paper's algorithm 1) clips it to
// what the model holds plausible, the population clip to what the training data held plausible.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "edict/engine/marginal.h"

namespace edict {

struct Guard {
  enum class Kind { none, edgr, population };
  enum class Deviation { epistemic, predictive };

  Kind kind = Kind::none;
  double eta = 1.96;
  Deviation deviation = Deviation::epistemic;

  bool active() const { return kind != Kind::none; }

  // Centre and deviation that an observation is held against. Values are in the model's units:
  // 0 and 1 for a standardised population.
  struct Band {
    double centre, sigma;
  };
  Band band(const Marginal& expected, double population_mean, double population_deviation) const {
    if (kind == Kind::population) return {population_mean, population_deviation};
    // A Gaussian does not tell the two apart: all of its variance is called aleatoric.
    const bool apart = deviation == Deviation::epistemic && expected.epistemic > 0;
    return {expected.mean,
            std::sqrt(apart ? expected.epistemic : expected.aleatoric + expected.epistemic)};
  }
  double clip(double x, const Band& band) const {
    return std::clamp(x, band.centre - eta * band.sigma, band.centre + eta * band.sigma);
  }
};

// "none", "edgr" and "pop-mean"; "epistemic" and "predictive". Throws Error for another name.
Guard::Kind guard_from_name(std::string_view name);
std::string_view name_of(Guard::Kind kind);
Guard::Deviation deviation_from_name(std::string_view name);

}  // namespace edict
