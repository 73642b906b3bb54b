// What a head says of one column of φ, in closed form, and what it tells the encoder.
#include "engine/heads/head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/heads/gaussian_head.h"
#include "engine/heads/niw_head.h"
#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kHeadFeatures = 3, kHeadInputs = 4;

template <class H>
struct HeadOf {
  explicit HeadOf(SurpriseScale surprise = SurpriseScale::epistemic)
      : head(layout, model(surprise), {}, kHeadInputs, kHeadFeatures),
        encoder(layout, "encoder", kHeadFeatures, 2),
        params(random_vector(rng, layout.size())) {}

  static EngineSettings model(SurpriseScale surprise) {
    EngineSettings settings;
    settings.hidden = kHeadInputs;
    settings.head_hidden = 5;
    settings.surprise = surprise;
    return settings;
  }
  Vector<double> phi(const Vector<double>& p, const Vector<double>& h, Index w) const {
    Vector<double> transposed = p, a(head.stacked() * w), result(head.rows() * w);
    head.transpose(p.data(), transposed.data());
    head.forward(Transposed<double>{transposed.data()}, w, h.data(), a.data(), result.data());
    return result;
  }

  ParameterLayout layout;
  H head;
  FeatureEncoder encoder;
  Generator rng{11};
  Vector<double> params;
};

TEST(NiwHead, TheMarginalIsTheStudentOfItsParameters) {
  const HeadOf<NiwHead> one;
  // μ0 (3) | log ψ (3) | λ | ν
  const double phi[] = {0.5, -1.0, 2.0, std::log(6.0), 0.0, -2.0, 3.0, 9.0};
  const Marginal m = one.head.marginal(phi, 0);
  EXPECT_EQ(m.mean, 0.5);
  EXPECT_DOUBLE_EQ(m.aleatoric, 6.0 / (9 - 3 - 1));              // E[Σ] = ψ/(ν − D − 1)
  EXPECT_DOUBLE_EQ(m.epistemic, 6.0 / (9 - 3 - 1) / 3);          // Var[μ] = E[Σ]/λ
  EXPECT_DOUBLE_EQ(m.dof, 9 - 3 + 1);                            // ν − D + 1
  EXPECT_DOUBLE_EQ(m.scale * m.scale, 6.0 * (1 + 1.0 / 3) / 7);  // ψ(1 + 1/λ)/dof
  // The variance of a Student-t is scale² dof/(dof − 2).
  EXPECT_NEAR(m.aleatoric + m.epistemic, m.scale * m.scale * 7 / 5, 1e-14);
  EXPECT_EQ(one.head.marginal(phi, 2).mean, 2.0);
}

TEST(GaussianHead, TheMarginalIsTheGaussianOfItsParameters) {
  const HeadOf<GaussianHead> one;
  const double phi[] = {0.5, -1.0, 2.0, std::log(4.0), 0.0, 1.0};
  const Marginal m = one.head.marginal(phi, 0);
  EXPECT_EQ(m.mean, 0.5);
  EXPECT_DOUBLE_EQ(m.aleatoric, 4.0);
  EXPECT_EQ(m.epistemic, 0.0);
  EXPECT_DOUBLE_EQ(m.scale, 2.0);
  EXPECT_EQ(m.dof, std::numeric_limits<double>::infinity());
}

// However far a state lies, λ ≥ 1 and ν ≥ D + 2 keep every variance defined.
TEST(NiwHead, EvidenceStaysWhereEveryMomentIsFinite) {
  const HeadOf<NiwHead> one;
  Generator rng(4);
  for (const double size : {0.0, 1.0, 100.0, 1e4}) {
    const Vector<double> h = size * random_vector(rng, kHeadInputs * 7);
    const Vector<double> phi = one.phi(one.params, h, 7);
    for (Index c = 0; c < 7; ++c) {
      const double* const p = phi.data() + c * one.head.rows();
      EXPECT_GE(p[2 * kHeadFeatures], 1.0);
      EXPECT_GE(p[2 * kHeadFeatures + 1], kHeadFeatures + 2.0);
    }
  }
}

template <class H>
class EveryHead : public testing::Test {};
using Heads = testing::Types<NiwHead, GaussianHead>;
TYPED_TEST_SUITE(EveryHead, Heads);

TYPED_TEST(EveryHead, ColumnsAreIndependent) {
  HeadOf<TypeParam> one;
  const Vector<double> h = random_vector(one.rng, kHeadInputs * 5);
  const Vector<double> together = one.phi(one.params, h, 5);
  const Index rows = one.head.rows();
  for (Index c = 0; c < 5; ++c)
    EXPECT_EQ(one.phi(one.params, h.segment(c * kHeadInputs, kHeadInputs), 1),
              together.segment(c * rows, rows));
}

TYPED_TEST(EveryHead, BackwardEqualsDifferences) {
  HeadOf<TypeParam> one;
  const Index w = 3;
  const Vector<double> h = random_vector(one.rng, kHeadInputs * w);
  const Vector<double> c = random_vector(one.rng, one.head.rows() * w);
  Vector<double> transposed = one.params, a(one.head.stacked() * w), phi(c.size()), d_phi = c;
  one.head.transpose(one.params.data(), transposed.data());
  one.head.forward(Transposed<double>{transposed.data()}, w, h.data(), a.data(), phi.data());
  Vector<double> d_a(a.size()), d_h = Vector<double>::Zero(h.size());
  Vector<double> grads = Vector<double>::Constant(one.layout.size(), 2);
  one.head.backward(one.params.data(), w, h.data(), a.data(), phi.data(), d_phi.data(), d_a.data(),
                    d_h.data(), grads.data());
  expect_gradients([&](const auto& p, const auto& v) { return one.phi(p, v, w); }, one.params, h, c,
                   d_h, grads, 2);
}

TYPED_TEST(EveryHead, TheEncoderIsToldHowFarAnObservationWasFromTheMean) {
  HeadOf<TypeParam> one(SurpriseScale::predictive);
  const Vector<double> phi = one.phi(one.params, random_vector(one.rng, kHeadInputs), 1);
  for (Index j = 0; j < kHeadFeatures; ++j) {
    const Marginal m = one.head.marginal(phi.data(), j);
    double v[FeatureEncoder::kInputs];
    one.head.encoder_inputs(phi.data(), j, 1.7, v);
    EXPECT_EQ(v[0], 1.7);
    EXPECT_EQ(v[1], m.mean);
    EXPECT_NEAR(v[3], (1.7 - m.mean) / std::sqrt(m.aleatoric + m.epistemic), 1e-12);
  }
}

TEST(NiwHead, EpistemicSurpriseCountsInTheModelsOwnDoubt) {
  HeadOf<NiwHead> one(SurpriseScale::epistemic);
  const Vector<double> phi = one.phi(one.params, random_vector(one.rng, kHeadInputs), 1);
  const Marginal m = one.head.marginal(phi.data(), 1);
  double v[FeatureEncoder::kInputs];
  one.head.encoder_inputs(phi.data(), 1, -0.3, v);
  EXPECT_NEAR(v[3], (-0.3 - m.mean) / std::sqrt(m.epistemic), 1e-12);
}

TYPED_TEST(EveryHead, WhatTheEncoderIsToldHasTheGradientOfDifferences) {
  for (const SurpriseScale surprise : {SurpriseScale::epistemic, SurpriseScale::predictive}) {
    HeadOf<TypeParam> one(surprise);
    const Vector<double> phi = one.phi(one.params, random_vector(one.rng, kHeadInputs), 1);
    const Vector<double> c = random_vector(one.rng, FeatureEncoder::kInputs);
    for (Index j = 0; j < kHeadFeatures; ++j) {
      double v[FeatureEncoder::kInputs];
      Vector<double> d_phi = Vector<double>::Zero(phi.size());
      one.head.encoder_inputs(phi.data(), j, 0.9, v);
      one.head.encoder_inputs_backward(phi.data(), j, v, c.data(), d_phi.data());
      for (Index i = 0; i < phi.size(); ++i) {
        Vector<double> moved = phi;
        const double expected = five_point([&](double offset) {
          double at[FeatureEncoder::kInputs];
          moved[i] = phi[i] + offset;
          one.head.encoder_inputs(moved.data(), j, 0.9, at);
          return Eigen::Map<const Vector<double>>(at, FeatureEncoder::kInputs).dot(c);
        });
        EXPECT_NEAR(d_phi[i], expected, 1e-8 * (1 + std::abs(expected)))
            << settings::name_of(surprise) << ", feature " << j << ", parameter " << i;
      }
    }
  }
}

TEST(CentralLevel, IsTheLevelOfTheIntervalThatJustReachesAValue) {
  // With one degree of freedom (Cauchy) the level is 2 arctan(z)/π.
  const Marginal cauchy{3.0, 0.0, 0.0, 2.0, 1.0};
  EXPECT_NEAR(central_level(cauchy, 5.0), 0.5, 1e-12);
  EXPECT_NEAR(central_level(cauchy, 1.0), 0.5, 1e-12);
  EXPECT_EQ(central_level(cauchy, 3.0), 0.0);
  const Marginal normal{0.0, 1.0, 0.0, 1.0, std::numeric_limits<double>::infinity()};
  EXPECT_NEAR(central_level(normal, -1.959963984540054), 0.95, 1e-12);
}

TEST(LossSums, AddEveryMember) {
  const LossSums one{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  LossSums sum = one;
  sum += one;
  EXPECT_EQ(sum.nll, 2);
  EXPECT_EQ(sum.kl, 4);
  EXPECT_EQ(sum.evidence, 6);
  EXPECT_EQ(sum.squared_error, 8);
  EXPECT_EQ(sum.crps, 10);
  EXPECT_EQ(sum.classification, 12);
  EXPECT_EQ(sum.reconstruction, 14);
  EXPECT_EQ(sum.observations, 16);
  EXPECT_EQ(sum.events, 18);
  EXPECT_EQ(sum.series, 20);
}

}  // namespace
}  // namespace edict
