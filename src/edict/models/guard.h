// What to do with an observation before it enters h(t). EDGR (the paper's algorithm 1) clips it to
// what the model holds plausible, the population clip to what the training data held plausible.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "edict/models/marginal.h"

namespace edict {

struct Guard {
  enum class Kind { none, edgr, population };
  enum class Deviation { epistemic, predictive };

  Kind kind = Kind::none;
  double eta = 1.96;
  Deviation deviation = Deviation::epistemic;

  bool active() const { return kind != Kind::none; }

  // Values are standardised, so the population's mean is 0 and its deviation 1; a model trained
  // without standardisation passes the population's own.
  double clip(double x, const Marginal& expected, double population_mean,
              double population_deviation) const {
    if (kind == Kind::none) return x;
    double centre = population_mean, sigma = population_deviation;
    if (kind == Kind::edgr) {
      centre = expected.mean;
      sigma = std::sqrt(deviation == Deviation::epistemic
                            ? expected.epistemic
                            : expected.aleatoric + expected.epistemic);
    }
    return std::clamp(x, centre - eta * sigma, centre + eta * sigma);
  }
};

}  // namespace edict
