#include "ask/joint.h"

#include <cmath>
#include <utility>

#include "ask/distribution.h"

namespace edict {

double Conditional::standard_score(double x) const {
  return (normal_score(marginal, x) - mean) / deviation;
}

double Conditional::at_standard_score(double z) const {
  return at_normal_score(marginal, mean + deviation * z);
}

double Conditional::quantile(double p) const { return at_standard_score(normal_quantile(p)); }

double Conditional::probability_below(double x) const { return normal_cdf(standard_score(x)); }
double Conditional::probability_above(double x) const { return normal_cdf(-standard_score(x)); }

double Conditional::tail_probability(double x) const {
  return 2.0 * normal_cdf(-std::abs(standard_score(x)));
}

double Conditional::log_density(double x) const {
  const double score = normal_score(marginal, x), standard = (score - mean) / deviation;
  return edict::log_density(marginal, x) - std::log(deviation) -
         0.5 * (standard * standard - score * score);
}

JointDistribution::JointDistribution(const Correlations& correlations,
                                     std::span<const std::size_t> features,
                                     std::span<const Marginal> marginals)
    : marginals_(marginals.begin(), marginals.end()) {
  const auto count = static_cast<Index>(features.size());
  const Matrix<double> identity = Matrix<double>::Identity(count, count);
  r_.compute(correlations.empty() ? identity : correlations.among(features));
  precision_ = r_.solve(identity);
}

Vector<double> JointDistribution::scores(std::span<const double> x) const {
  Vector<double> n(static_cast<Index>(marginals_.size()));
  for (std::size_t i = 0; i < marginals_.size(); ++i)
    n[static_cast<Index>(i)] = normal_score(marginals_[i], x[i]);
  return n;
}

double JointDistribution::log_density(std::span<const double> x) const {
  double sum = 0;
  for (std::size_t i = 0; i < marginals_.size(); ++i)
    sum += edict::log_density(marginals_[i], x[i]);
  const Vector<double> n = scores(x);
  const double half_log_determinant = r_.matrixLLT().diagonal().array().log().sum();
  return sum - half_log_determinant - 0.5 * (n.dot(precision_ * n) - n.squaredNorm());
}

Conditional JointDistribution::conditional(std::size_t place, const Vector<double>& others) const {
  const auto i = static_cast<Index>(place);
  const double own = precision_(i, i);
  return {marginals_[place], -precision_.row(i).dot(others) / own, 1.0 / std::sqrt(own)};
}

std::vector<Conditional> JointDistribution::each_given_others(std::span<const double> x) const {
  Vector<double> n = scores(x);
  std::vector<Conditional> result;
  for (std::size_t place = 0; place < marginals_.size(); ++place) {
    double& own = n[static_cast<Index>(place)];
    const double kept = std::exchange(own, 0.0);
    result.push_back(conditional(place, n));
    own = kept;
  }
  return result;
}

void JointDistribution::draw(Generator& random, std::span<double> x) const {
  Vector<double> n(static_cast<Index>(marginals_.size()));
  for (double& each : n) each = random.normal();
  n = r_.matrixL() * n;
  for (std::size_t i = 0; i < marginals_.size(); ++i)
    x[i] = at_normal_score(marginals_[i], n[static_cast<Index>(i)]);
}

}  // namespace edict
