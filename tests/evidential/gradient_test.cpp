// Every loss: gradient against finite differences, weight, accumulation, order, and float's range.
#include <gtest/gtest.h>

#include <cmath>

#include "evidential/block.h"
#include "evidential/event.h"

namespace edict {
namespace {

// Five-point difference: truncation h⁴, so a step of 10⁻³ of the parameter's own scale leaves 10⁻¹²
// of error beside rounding of about 10⁻¹³ |loss|.
double difference(const Loss<double>& loss, Event<double>& event, double& parameter, double h) {
  const double at = parameter;
  const auto value = [&](double step) {
    parameter = at + step;
    return evaluate(loss, event);
  };
  const double slope = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h);
  parameter = at;
  return slope;
}

void check_gradient(const std::string& name, const Loss<double>& loss, Event<double> event) {
  const Index dim = event.pre.dim();
  Gradients<double> gradients(dim);
  const double value = loss(event, 1.0, gradients);
  ASSERT_TRUE(std::isfinite(value)) << name;
  std::vector<double> residual(dim, 1e9);
  for (std::size_t i = 0; i < event.x.size(); ++i)
    residual[event.feature[i]] = std::abs(event.x[i] - event.pre.mu[event.feature[i]]);
  const auto compare = [&](Parameters<double>& p, Parameters<double>& d, const char* which) {
    const auto parameters = p.all(), analytic = d.all();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      double h = 1e-3;  // of a log ψ
      if (k < static_cast<std::size_t>(dim))
        h *= std::min(residual[k], std::exp(0.5 * event.pre.log_psi[k]) + 0.1 * residual[k]);
      else if (k + 2 == parameters.size())
        h *= p.lambda;
      else if (k + 1 == parameters.size())
        h *= p.nu - static_cast<double>(dim) - 1;
      const double numeric = difference(loss, event, *parameters[k], h);
      // Rounding of the loss, divided by the step, is what the difference cannot see.
      const double tolerance = 1e-6 * std::abs(*analytic[k]) + 1e-14 * (1 + std::abs(value)) / h;
      EXPECT_NEAR(numeric, *analytic[k], tolerance)
          << name << " " << which << " parameter " << k << " of D=" << dim
          << " m=" << event.x.size() << " value " << value;
    }
  };
  compare(event.pre, gradients.pre, "pre");
  compare(event.post, gradients.post, "post");
}

TEST(LossGradient, MatchesDifferencesForManyPatterns) {
  Generator rng(11);
  for (const auto& [name, loss] : all_losses<double>()) {
    for (const auto& [dim, count] : {std::pair{1, 1},
                                     {2, 1},
                                     {2, 2},
                                     {3, 2},
                                     {7, 1},
                                     {7, 4},
                                     {7, 7},
                                     {50, 1},
                                     {50, 3},
                                     {50, 50}})
      for (int repeat = 0; repeat < 4; ++repeat)
        check_gradient(name, loss, random_event(rng, dim, count));
  }
}

// More features than one block of the walk holds, so that they are gathered twice.
TEST(LossGradient, MatchesDifferencesAcrossBlocks) {
  static_assert(kBlock < 200);
  Generator rng(17);
  for (const auto& [name, loss] : all_losses<double>())
    check_gradient(name, loss, random_event(rng, 200, 200));
}

TEST(LossGradient, MatchesDifferencesAtExtremes) {
  Generator rng(12);
  for (const auto& [name, loss] : all_losses<double>())
    for (const double spread : {0.1, 5.0})
      for (const double evidence : {1e-2, 1e6})
        for (const double noise : {1e-3, 1.0, 1e4})
          for (const auto& [dim, count] : {std::pair{1, 1}, {6, 3}, {20, 20}})
            check_gradient(name, loss, random_event(rng, dim, count, spread, evidence, noise));
}

TEST(LossGradient, IsAddedTimesTheWeight) {
  Generator rng(13);
  const auto event = random_event(rng, 6, 4);
  for (const auto& [name, loss] : all_losses<double>()) {
    Gradients<double> once(6), twice(6);
    const double value = loss(event, 1.0, once);
    EXPECT_EQ(loss(event, 0.25, twice), value) << name;  // the value is not weighted
    loss(event, 1.75, twice);
    const auto a = once.pre.all(), b = twice.pre.all();
    for (std::size_t k = 0; k < a.size(); ++k)
      EXPECT_NEAR(2 * *a[k], *b[k], 1e-12 * (1 + std::abs(*a[k]))) << name;
  }
}

TEST(LossGradient, LeavesUnobservedFeaturesAndEmptyEventsAlone) {
  Generator rng(14);
  const auto some = random_event(rng, 5, 2), none = random_event(rng, 5, 0);
  for (const auto& [name, loss] : all_losses<double>()) {
    Gradients<double> g(5);
    loss(some, 1.0, g);
    std::vector<bool> seen(5);
    for (const auto j : some.feature) seen[j] = true;
    for (int j = 0; j < 5; ++j) {
      EXPECT_EQ(g.pre.mu[j] != 0, seen[j]) << name;
      EXPECT_EQ(g.pre.log_psi[j] != 0, seen[j] && name != "evidence_penalty") << name;
    }
    Gradients<double> zero(5);
    EXPECT_EQ(loss(none, 1.0, zero), 0) << name;
    for (auto* p : {&zero.pre, &zero.post})
      for (const double* v : p->all()) EXPECT_EQ(*v, 0) << name;
  }
}

TEST(EvidencePenalty, HasSubgradientZeroAtTheObservation) {
  Generator rng(15);
  auto event = random_event(rng, 2, 2, 1, 5, 0.0);  // x = μ
  Gradients<double> g(2);
  EXPECT_EQ(all_losses<double>().at("evidence_penalty")(event, 1.0, g), 0);
  for (const double* v : g.pre.all()) EXPECT_EQ(*v, 0);
}

// Float differs from double by the rounding of its inputs: 6e-8 relative in each, which the
// residual x − μ magnifies by |μ|/|x−μ|, so the numbers are chosen exact in float first.
TEST(LossGradient, FloatIsDoubleRounded) {
  Generator rng(16);
  for (int repeat = 0; repeat < 50; ++repeat) {
    const auto narrow = convert<float>(random_event(rng, 8, 5, 2, 1000, 3));
    Event<double> wide;
    for (auto [from, to] : {std::pair{&narrow.pre, &wide.pre}, {&narrow.post, &wide.post}}) {
      to->mu.assign(from->mu.begin(), from->mu.end());
      to->log_psi.assign(from->log_psi.begin(), from->log_psi.end());
      to->lambda = from->lambda, to->nu = from->nu;
    }
    wide.feature = narrow.feature;
    wide.x.assign(narrow.x.begin(), narrow.x.end());
    wide.observation_std = narrow.observation_std;
    const auto wide_losses = all_losses<double>();
    for (const auto& [name, loss] : all_losses<float>()) {
      Gradients<float> a(8);
      Gradients<double> b(8);
      const double value = wide_losses.at(name)(wide, 1.0, b);
      EXPECT_NEAR(loss(narrow, 1.0f, a), value, 1e-7 * std::abs(value)) << name;
      for (auto [p, q] : {std::pair{&a.pre, &b.pre}, {&a.post, &b.post}}) {
        const auto u = p->all();
        const auto v = q->all();
        for (std::size_t k = 0; k < u.size(); ++k)
          EXPECT_NEAR(*u[k], *v[k], 1e-7 * std::abs(*v[k])) << name;
      }
    }
  }
}

TEST(LossGradient, IsFiniteInFloatOverTheWholeRange) {
  for (const auto& [name, loss] : all_losses<float>())
    for (const Index dim : {Index{1}, Index{3}, Index{200}})
      for (const float far : {0.0f, 1e-6f, 1e6f})
        for (const float pre_psi : {-30.0f, 30.0f})
          for (const float post_psi : {-30.0f, 30.0f})
            for (const float pre_evidence : {0.0f, 1e6f})
              for (const float post_evidence : {0.0f, 1e6f}) {
                Event<float> event;
                event.pre = event.post = Parameters<float>(dim);
                event.pre.log_psi.assign(dim, pre_psi);
                event.post.log_psi.assign(dim, post_psi);
                event.pre.lambda = 1 + pre_evidence;
                event.post.lambda = 1 + post_evidence;
                event.pre.nu = static_cast<float>(dim) + 2 + pre_evidence;
                event.post.nu = static_cast<float>(dim) + 2 + post_evidence;
                for (std::int32_t j = 0; j < dim; ++j) {
                  event.feature.push_back(j);
                  event.x.push_back(j % 2 ? far : -far);
                }
                Gradients<float> g(dim);
                const float value = loss(event, 1.0f, g);
                ASSERT_TRUE(std::isfinite(value)) << name << " D=" << dim << " x=" << far;
                for (auto* p : {&g.pre, &g.post})
                  for (const float* v : p->all())
                    ASSERT_TRUE(std::isfinite(*v)) << name << " D=" << dim << " x=" << far;
              }
}

}  // namespace
}  // namespace edict
