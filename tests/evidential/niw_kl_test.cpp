#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <numbers>

#include "evidential/event.h"

namespace edict {
namespace {

double kl(const Event<double>& event) { return evaluate(all_losses<double>().at("niw_kl"), event); }

// A dense NIW over m features.
struct Dense {
  Eigen::VectorXd mu;
  Eigen::MatrixXd psi;
  double lambda, nu;

  // Log density at the mean and the precision matrix Σ⁻¹.
  double log_density(const Eigen::VectorXd& mean, const Eigen::MatrixXd& precision) const {
    const double m = static_cast<double>(mu.size());
    const double log_det_precision = std::log(precision.determinant());
    double log_gamma_m = 0.25 * m * (m - 1) * std::log(std::numbers::pi);
    for (int i = 0; i < mu.size(); ++i) log_gamma_m += boost::math::lgamma(0.5 * (nu - i));
    const double inverse_wishart =
        0.5 * nu * std::log(psi.determinant()) - 0.5 * nu * m * std::log(2.0) - log_gamma_m +
        0.5 * (nu + m + 1) * log_det_precision - 0.5 * (psi * precision).trace();
    const Eigen::VectorXd delta = mean - mu;
    return inverse_wishart + 0.5 * m * std::log(lambda / (2 * std::numbers::pi)) +
           0.5 * log_det_precision - 0.5 * lambda * delta.dot(precision * delta);
  }
};

Dense marginal(const Parameters<double>& p, const std::vector<std::int32_t>& features) {
  const auto m = static_cast<Index>(features.size());
  Dense dense{Eigen::VectorXd(m), Eigen::MatrixXd::Zero(m, m), p.lambda,
              p.nu - static_cast<double>(p.dim() - m)};
  for (Index i = 0; i < m; ++i) {
    dense.mu[i] = p.mu[features[i]];
    dense.psi(i, i) = std::exp(p.log_psi[features[i]]);
  }
  return dense;
}

// Bishop/Murphy's conjugate update by one observation.
Dense updated(Dense d, const std::vector<double>& values) {
  const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(values.data(), d.mu.size());
  d.psi += d.lambda / (d.lambda + 1) * (x - d.mu) * (x - d.mu).transpose();
  d.mu = (d.lambda * d.mu + x) / (d.lambda + 1);
  d.lambda += 1;
  d.nu += 1;
  return d;
}

// Samples (μ, Σ) from the Bayes target, Σ⁻¹ by Bartlett's decomposition, and averages the log ratio
// of the two densities; 4 standard errors fail once in 16,000 for a right formula.
TEST(NiwKl, IsTheExpectedLogRatio) {
  Generator rng(30);
  for (const auto& [dim, count] : {std::pair{1, 1}, {4, 2}, {5, 3}, {4, 4}}) {
    const auto event = random_event(rng, dim, count, 0.5, 4);
    const Dense bayes = updated(marginal(event.pre, event.feature), event.x);
    const Dense post = marginal(event.post, event.feature);
    const Eigen::MatrixXd root = bayes.psi.inverse().llt().matrixL();
    const int n = 20000;
    double sum = 0, squares = 0;
    for (int draw = 0; draw < n; ++draw) {
      Eigen::MatrixXd a = Eigen::MatrixXd::Zero(count, count);
      for (int i = 0; i < count; ++i) {
        a(i, i) = std::sqrt(2 * boost::math::gamma_p_inv(0.5 * (bayes.nu - i), rng.uniform()));
        for (int k = 0; k < i; ++k) a(i, k) = rng.normal();
      }
      const Eigen::MatrixXd factor = root * a, precision = factor * factor.transpose();
      Eigen::VectorXd z(count);
      for (int i = 0; i < count; ++i) z[i] = rng.normal();
      const Eigen::VectorXd mean =
          bayes.mu + factor.transpose().inverse() * z / std::sqrt(bayes.lambda);
      const double ratio = bayes.log_density(mean, precision) - post.log_density(mean, precision);
      sum += ratio, squares += ratio * ratio;
    }
    const double estimate = sum / n;
    const double error = std::sqrt((squares / n - estimate * estimate) / n);
    EXPECT_LT(error, 0.05 * estimate);  // else the comparison would say nothing
    EXPECT_NEAR(kl(event), estimate, 4 * error) << "D=" << dim << " m=" << count;
  }
}

// With one observed feature Ψ' is diagonal, so post can be the Bayes posterior exactly.
TEST(NiwKl, IsZeroWithZeroGradientAtTheBayesPosterior) {
  Generator rng(31);
  for (int repeat = 0; repeat < 100; ++repeat) {
    auto event = random_event(rng, 1 + repeat % 5, 1, 2, repeat % 2 ? 5 : 1e5, 2);
    const auto j = event.feature[0];
    const Dense bayes = updated(marginal(event.pre, event.feature), event.x);
    event.post.lambda = bayes.lambda;
    event.post.nu = event.pre.nu + 1;
    event.post.mu[j] = bayes.mu[0];
    event.post.log_psi[j] = std::log(bayes.psi(0, 0));
    Gradients<double> g(event.pre.dim());
    const double rounding = 1e-14 * event.pre.nu;
    EXPECT_NEAR(all_losses<double>().at("niw_kl")(event, 1.0, g), 0, rounding);
    for (auto* p : {&g.pre, &g.post})
      for (const double* v : p->all()) EXPECT_NEAR(*v, 0, 1e3 * event.pre.lambda * rounding);
  }
}

TEST(NiwKl, IsNeverNegative) {
  Generator rng(32);
  for (int repeat = 0; repeat < 5000; ++repeat) {
    const Index dim = 1 + static_cast<Index>(rng.below(30));
    const Index count = 1 + static_cast<Index>(rng.below(static_cast<std::uint64_t>(dim)));
    const double evidence = std::exp(rng.uniform(-3, 9));
    EXPECT_GT(kl(random_event(rng, dim, count, rng.uniform(0, 3), evidence,
                              std::exp(rng.uniform(-5, 9)))),
              0);
  }
}

using Real = boost::multiprecision::cpp_bin_float_100;

// The dense KL of two features in 100 digits, λ = 2 and λ_post = 2.5; both have 10 degrees of
// freedom, so that the gamma functions drop out. Parameters: μ, log ψ, μ_post, log ψ_post.
Real dense_kl(const std::array<Real, 8>& p, const std::array<Real, 2>& x) {
  const Real c = Real(2) / 3, r0 = x[0] - p[0], r1 = x[1] - p[1];
  const Real a = exp(p[2]) + c * r0 * r0, b = c * r0 * r1, d = exp(p[3]) + c * r1 * r1;
  const Real det = a * d - b * b;
  const Real u = p[0] + r0 / 3 - p[4], v = p[1] + r1 / 3 - p[5];
  const Real mahalanobis = (d * u * u - 2 * b * u * v + a * v * v) / det;
  const Real trace = (exp(p[6]) * d + exp(p[7]) * a) / det, ratio = Real(2.5) / 3;
  return (2 * (ratio - 1 - log(ratio)) + Real(2.5) * 10 * mahalanobis) / 2 -
         Real(5) * (p[6] + p[7] - log(det)) + Real(5) * (trace - 2);
}

// One feature 10⁶ off at ψ = e⁻³⁰ (q = 10²⁵) and one near its target: value and gradient keep their
// digits, although 1 + q drowns the second feature.
TEST(NiwKl, KeepsItsDigitsWhenOneFeatureIsFarOff) {
  Event<double> event;
  event.pre = event.post = Parameters<double>(2);
  event.pre.nu = 9, event.post.nu = 10;
  event.post.lambda = 2.5;
  event.pre.log_psi = {-30, 0.5};
  event.post.log_psi = {27, -1};
  event.post.mu = {333333.0, 0.125};
  event.feature = {0, 1}, event.x = {1e6, 1.75};
  const std::array<Real, 2> x = {event.x[0], event.x[1]};
  std::array<Real, 8> p = {0, 0, -30, 0.5, 333333.0, 0.125, 27, -1};

  Gradients<double> g(2);
  const double value = all_losses<double>().at("niw_kl")(event, 1.0, g);
  EXPECT_NEAR(value / static_cast<double>(dense_kl(p, x)), 1, 1e-13);
  const double* actual[] = {&g.pre.mu[0],  &g.pre.mu[1],  &g.pre.log_psi[0],  &g.pre.log_psi[1],
                            &g.post.mu[0], &g.post.mu[1], &g.post.log_psi[0], &g.post.log_psi[1]};
  for (int k = 0; k < 8; ++k) {
    const Real at = p[k], h = Real("1e-25");
    p[k] = at + h;
    const Real above = dense_kl(p, x);
    p[k] = at - h;
    const double expected = static_cast<double>((above - dense_kl(p, x)) / (2 * h));
    p[k] = at;
    EXPECT_NEAR(*actual[k] / expected, 1, 1e-9) << "parameter " << k << " is " << expected;
  }
}

}  // namespace
}  // namespace edict
