// What every model with a distribution can say of one feature at one moment, and the running sums
// of its loss.
#pragma once

#include <algorithm>
#include <cmath>

#include "math/student_t.h"

namespace edict {

// Student-t with `dof` degrees of freedom (infinite: a Gaussian) around `mean`; its variance is
// aleatoric + epistemic.
struct Marginal {
  double mean;
  double aleatoric;
  double epistemic;
  double scale;
  double dof;
};

// How many scales x lies from the mean. One too far to be squared counts as the farthest that can.
inline double standardised(const Marginal& m, double x) {
  constexpr double kFarthest = 1e150;
  return std::clamp((x - m.mean) / m.scale, -kFarthest, kFarthest);
}

// The level of the central interval that just reaches x.
inline double central_level(const Marginal& m, double x) {
  const double z = standardised(m, x);
  return std::isinf(m.dof) ? normal_central_level(z) : student_t_central_level(z, m.dof);
}

// Φ⁻¹(P(X ≤ x)), and the x that has it.
inline double normal_score(const Marginal& m, double x) {
  const double z = standardised(m, x);
  return std::isinf(m.dof) ? z : student_t_normal_score(z, m.dof);
}
inline double at_normal_score(const Marginal& m, double score) {
  return m.mean + m.scale * (std::isinf(m.dof) ? score : student_t_at_normal_score(score, m.dof));
}

// Continuous ranked probability score of x.
inline double crps(const Marginal& m, double x) {
  return std::isinf(m.dof) ? normal_crps(x, m.mean, m.scale)
                           : student_t_crps(x, m.mean, m.scale, m.dof);
}

// Of its variance. Without a variance to divide there is no telling one from the other.
inline double epistemic_share(const Marginal& m) {
  const double variance = m.aleatoric + m.epistemic;
  return variance > 0 && std::isfinite(variance) ? m.epistemic / variance : 0.5;
}

struct LossSums {
  double nll = 0, kl = 0, evidence = 0, squared_error = 0, crps = 0, classification = 0;
  double reconstruction = 0;
  double observations = 0, events = 0, series = 0;

  LossSums& operator+=(const LossSums& other) {
    nll += other.nll;
    kl += other.kl;
    evidence += other.evidence;
    squared_error += other.squared_error;
    crps += other.crps;
    classification += other.classification;
    reconstruction += other.reconstruction;
    observations += other.observations;
    events += other.events;
    series += other.series;
    return *this;
  }
};

}  // namespace edict
