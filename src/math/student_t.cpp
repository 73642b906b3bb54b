#include "math/student_t.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "math/special.h"

namespace edict {
namespace {

// A quantile beyond every number is infinite. (Boost looks up such quantiles before main, and would
// throw there under valgrind, whose long double is a double.)
using Beyond = boost::math::policies::policy<
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>>;
using StudentT = boost::math::students_t_distribution<double, Beyond>;
using Normal = boost::math::normal_distribution<double, Beyond>;

void check_dof(double dof, double above) {
  if (!(dof > above) || !std::isfinite(dof))
    throw Error(fmt::format("Student-t with {} degrees of freedom: pass a finite number above {}",
                            dof, above));
}

void check_probability(double p, double low, const char* name) {
  if (!(p >= low && p < 1.0))
    throw Error(fmt::format("{} {}: pass a number from {} to below 1", name, p, low));
}

constexpr double kSmallest = 0x1.0p-1022;
constexpr double kFarthestScore = 37.0;  // Φ(−37) is 6·10⁻³⁰⁰

}  // namespace

double student_t_cdf(double z, double dof) {
  check_dof(dof, 0.0);
  return boost::math::cdf(StudentT(dof), z);
}

double student_t_quantile(double p, double dof) {
  check_dof(dof, 0.0);
  check_probability(p, kSmallest, "quantile of probability");
  return boost::math::quantile(StudentT(dof), p);
}

double student_t_half_width(double level, double dof) {
  check_dof(dof, 0.0);
  check_probability(level, 0.0, "central interval of level");
  // The upper tail keeps its digits as the level nears 1.
  return boost::math::quantile(boost::math::complement(StudentT(dof), 0.5 * (1.0 - level)));
}

double student_t_central_level(double z, double dof) {
  check_dof(dof, 0.0);
  return 1.0 - 2.0 * boost::math::cdf(StudentT(dof), -std::abs(z));
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double normal_quantile(double p) {
  check_probability(p, kSmallest, "quantile of probability");
  return boost::math::quantile(Normal(), p);
}

double normal_half_width(double level) {
  check_probability(level, 0.0, "central interval of level");
  return boost::math::quantile(boost::math::complement(Normal(), 0.5 * (1.0 - level)));
}

double normal_central_level(double z) { return std::erf(std::abs(z) / std::numbers::sqrt2); }

double student_t_normal_score(double z, double dof) {
  const double tail = student_t_cdf(-std::abs(z), dof);
  const double score = tail > kSmallest ? -normal_quantile(tail) : kFarthestScore;
  return std::copysign(std::min(score, kFarthestScore), z);
}

double student_t_at_normal_score(double score, double dof) {
  const double tail = normal_cdf(-std::min(std::abs(score), kFarthestScore));
  return std::copysign(student_t_quantile(tail, dof), score);
}

double student_t_crps(double x, double location, double scale, double dof) {
  check_dof(dof, 1.0);
  const double z = (x - location) / scale;
  // B(½, ν−½)/B(½, ν/2)² = Γ(ν−½)/Γ(ν) · (Γ((ν+1)/2)/Γ(ν/2))² / √π
  const double log_beta_ratio = 2.0 * log_gamma_ratio(0.5 * dof, 0.5) -
                                log_gamma_ratio(dof - 0.5, 0.5) - 0.5 * std::log(std::numbers::pi);
  const double centre = std::copysign(student_t_central_level(z, dof), z);  // 2F(z) − 1
  const double density = boost::math::pdf(StudentT(dof), z);
  return scale *
         (z * centre + 2.0 / (dof - 1.0) *
                           (density * (dof + z * z) - std::sqrt(dof) * std::exp(log_beta_ratio)));
}

double normal_crps(double x, double mean, double std) {
  const double z = (x - mean) / std;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
  return std *
         (z * std::copysign(normal_central_level(z), z) + 2.0 * density - std::numbers::inv_sqrtpi);
}

}  // namespace edict
