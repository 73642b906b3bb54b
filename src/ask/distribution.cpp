#include "ask/distribution.h"

#include <cmath>
#include <numbers>

#include "base/not_finite.h"
#include "math/special.h"
#include "math/student_t.h"

namespace edict {
namespace {

double deviation(const Marginal& m, double variance) {
  return m.dof > 2 ? std::sqrt(variance) : kInfinity;
}

double standard_cdf(double z, double dof) {
  return std::isinf(dof) ? normal_cdf(z) : student_t_cdf(z, dof);
}

}  // namespace

double predictive_deviation(const Marginal& m) { return deviation(m, m.aleatoric + m.epistemic); }
double aleatoric_deviation(const Marginal& m) { return deviation(m, m.aleatoric); }
double epistemic_deviation(const Marginal& m) { return deviation(m, m.epistemic); }

double probability_below(const Marginal& m, double x) {
  return standard_cdf(standardised(m, x), m.dof);
}

double probability_above(const Marginal& m, double x) {
  return standard_cdf(-standardised(m, x), m.dof);
}

double tail_probability(const Marginal& m, double x) {
  return 2.0 * standard_cdf(-std::abs(standardised(m, x)), m.dof);
}

double log_density(const Marginal& m, double x) {
  constexpr double half_log_pi = 0.57236494292470008707;
  const double z = standardised(m, x);
  if (std::isinf(m.dof))
    return -(0.5 * (z * z + std::numbers::ln2) + half_log_pi) - std::log(m.scale);
  return log_gamma_ratio(0.5 * m.dof, 0.5) - 0.5 * (m.dof + 1.0) * std::log1p(z * z / m.dof) -
         std::log(m.scale) - 0.5 * std::log(m.dof) - half_log_pi;
}

double standard_quantile(double p, double dof) {
  return std::isinf(dof) ? normal_quantile(p) : student_t_quantile(p, dof);
}

double half_width(const Marginal& m, double level) {
  return m.scale *
         (std::isinf(m.dof) ? normal_half_width(level) : student_t_half_width(level, m.dof));
}

}  // namespace edict
