// The losses of one event with three features of which two were seen; each first against a value
// that is known by hand.
#include <benchmark/benchmark.h>

#include <cmath>
#include <numbers>

#include "evidential/losses.h"

namespace {

using namespace edict;

struct Event {
  float mu[3] = {0, 0, 0}, log_psi[3] = {0, 0, 0}, d_mu[3] = {}, d_log_psi[3] = {};
  float post_mu[3] = {0.5f, 0.1f, 1}, post_log_psi[3] = {0.1f, 0, -0.1f};
  std::int32_t feature[2] = {0, 2};
  float value[2] = {0, 0};
  Niw<float> niw{mu, log_psi, 1.0f, 6.0f, 3}, post{post_mu, post_log_psi, 2.0f, 7.0f, 3};
  Observed<float> seen{feature, value, 2};
  NiwGradient<float> d{d_mu, d_log_psi}, d_post{d_mu, d_log_psi};
};

void student_t(benchmark::State& state) {
  Event e;
  // At x = μ0 with ψ = 1, λ = 1, d = ν − D + 1 = 4 and m = 2: lnΓ(2) − lnΓ(3) + ln 2π.
  const double expected = -std::log(2.0) + std::log(2 * std::numbers::pi);
  if (std::abs(student_t_nll(e.niw, e.seen, 1.0f, e.d) - expected) > 1e-6)
    state.SkipWithError("not the known density");
  e.value[0] = 0.7f;
  for (auto _ : state) benchmark::DoNotOptimize(student_t_nll(e.niw, e.seen, 1.0f, e.d));
}

void kl_of_bayes(benchmark::State& state) {
  Event e;
  // The conjugate update of the marginal on two features by x = μ0: λ + 1, ν + 1, the rest stays.
  Niw<float> bayes{e.mu, e.log_psi, 2.0f, 7.0f, 3};
  if (std::abs(niw_kl(e.niw, bayes, e.seen, 1.0f, e.d, e.d_post)) > 1e-6)
    state.SkipWithError("the update is not at distance 0 from itself");
  e.value[0] = 0.7f;
  for (auto _ : state) benchmark::DoNotOptimize(niw_kl(e.niw, e.post, e.seen, 1.0f, e.d, e.d_post));
}

void evidence(benchmark::State& state) {
  Event e;
  e.value[0] = 0.5f, e.value[1] = -0.25f;  // ‖μ0 − x‖₁ (λ + ν) = 0.75 · 7
  if (evidence_penalty(e.niw, e.seen, 1.0f, e.d) != 5.25f) state.SkipWithError("not 5.25");
  for (auto _ : state) benchmark::DoNotOptimize(evidence_penalty(e.niw, e.seen, 1.0f, e.d));
}

BENCHMARK(student_t);
BENCHMARK(kl_of_bayes);
BENCHMARK(evidence);

}  // namespace
