#include "evidential/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evidential/event.h"

namespace edict {
namespace {

// pre N(0, 1), x = 1 with variance 1: Bayes is N(½, ½); against N(½, 1) the KL is ½(½ − 1 + ln 2).
TEST(GaussianBayesKl, OfAKnownCase) {
  const GaussianKl kl = gaussian_bayes_kl(0, 0, 0.5, 0, 1, ObservationNoise(1));
  EXPECT_NEAR(kl.value, 0.5 * (std::log(2.0) - 0.5), 1e-15);
  EXPECT_NEAR(kl.d_log_var_post, 0.25, 1e-15);
  EXPECT_NEAR(kl.d_mu_post, 0, 1e-15);
}

TEST(GaussianBayesKl, IsZeroWithZeroGradientAtTheProduct) {
  Generator rng(40);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const double mu = rng.normal(), log_var = 3 * rng.normal(), x = rng.normal();
    const double var = std::exp(log_var), noise = std::exp(3 * rng.normal());
    const double mean = (mu * noise + x * var) / (var + noise);
    const GaussianKl kl =
        gaussian_bayes_kl(mu, log_var, mean, std::log(var * noise / (var + noise)), x,
                          ObservationNoise(std::sqrt(noise)));
    EXPECT_NEAR(kl.value, 0, 1e-13);
    // A rounding of the mean by 1e-16 weighs 1/variance in the gradient.
    const double tolerance = 1e-14 * (1 + 1 / var + 1 / noise);
    EXPECT_NEAR(kl.d_mu_pre, 0, tolerance);
    EXPECT_NEAR(kl.d_log_var_pre, 0, tolerance);
    EXPECT_NEAR(kl.d_mu_post, 0, tolerance);
    EXPECT_NEAR(kl.d_log_var_post, 0, tolerance);
  }
}

// With ln σ² = ln of the NIW's predictive variance the two doors agree.
TEST(GaussianKl, IsTheGaussianOneOfThePredictiveVariances) {
  Generator rng(41);
  const auto event = random_event(rng, 6, 4);
  auto gaussian = event;
  for (int j = 0; j < 6; ++j) {
    gaussian.pre.log_psi[j] = std::log(event.pre.niw().predictive_variance(j));
    gaussian.post.log_psi[j] = std::log(event.post.niw().predictive_variance(j));
  }
  const double expected = evaluate(all_losses<double>().at("gaussian_bayes_kl"), gaussian);
  EXPECT_NEAR(evaluate(all_losses<double>().at("gaussian_kl"), event), expected, 1e-13 * expected);
}

TEST(GaussianNll, OfAKnownCase) {
  Event<double> event;
  event.pre = Parameters<double>(2);
  event.pre.mu = {1, 5};
  event.pre.log_psi = {std::log(4.0), 0};
  event.feature = {0}, event.x = {3};
  Gradients<double> g(2);
  // ½[ln 2π + ln 4 + 4/4]
  EXPECT_NEAR(all_losses<double>().at("gaussian_nll")(event, 1.0, g), 2.1120857137646178, 1e-14);
  EXPECT_NEAR(g.pre.mu[0], -0.5, 1e-15);
  EXPECT_NEAR(g.pre.log_psi[0], 0, 1e-15);
}

}  // namespace
}  // namespace edict
