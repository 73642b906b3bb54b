// The joint distribution of features against quadrature, division of densities and draws.
#include "ask/joint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

#include "ask/distribution.h"
#include "engine/small_model.h"
#include "judge/detailed_evaluation.h"

namespace edict {
namespace {

Correlations three(double r10, double r20, double r21) {
  Matrix<double> r(3, 3);
  r << 1, r10, r20, r10, 1, r21, r20, r21, 1;
  return Correlations(r);
}

const Correlations kThree = three(0.8, -0.5, -0.2);
constexpr std::array<std::size_t, 3> kFeatures{0, 1, 2};
// Tails of their own, one without any.
const std::array<Marginal, 3> kMarginals{
    {{1.0, 0, 0, 0.5, 3.5}, {-2.0, 0, 0, 2.0, 9.0}, {0.0, 0, 0, 1.0, kInfinity}}};

// Of e^log_density(x) over the line, x = mean + scale·sinh(y).
template <class LogDensity>
double integral(const Marginal& m, const LogDensity& log_density) {
  const auto density = [&](double y) {
    return std::exp(log_density(m.mean + m.scale * std::sinh(y))) * m.scale * std::cosh(y);
  };
  return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(density, -12.0, 12.0, 8,
                                                                       1e-9);
}

TEST(JointDistribution, IntegratesToOne) {
  const std::array<std::size_t, 2> places{0, 1};
  const JointDistribution joint(kThree, places, std::span(kMarginals).first(2));
  const double all = integral(kMarginals[0], [&](double a) {
    return std::log(integral(kMarginals[1], [&](double b) {
      return joint.log_density(std::array{a, b});
    }));
  });
  EXPECT_NEAR(all, 1.0, 1e-6);
}

// Whatever feature is integrated out, the marginal of the other is its own Student-t.
TEST(JointDistribution, HasTheMarginalsThatItWasMadeOf) {
  const std::array<std::size_t, 2> places{0, 1};
  const JointDistribution joint(kThree, places, std::span(kMarginals).first(2));
  for (const double a : {-1.0, 0.9, 1.2, 4.0}) {
    const double own = integral(kMarginals[1], [&](double b) {
      return joint.log_density(std::array{a, b});
    });
    EXPECT_NEAR(own / std::exp(log_density(kMarginals[0], a)), 1.0, 1e-6) << a;
  }
}

TEST(JointDistribution, WithoutCorrelationsIsTheProductOfItsMarginals) {
  const std::array x{1.7, 3.0, -0.4};
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += log_density(kMarginals[i], x[i]);
  for (const Correlations& none : {Correlations(), three(0, 0, 0)}) {
    const JointDistribution joint(none, kFeatures, kMarginals);
    EXPECT_NEAR(joint.log_density(x), sum, 1e-12);
    const Conditional given = joint.each_given_others(x)[1];
    EXPECT_EQ(given.mean, 0.0);
    EXPECT_EQ(given.deviation, 1.0);
    EXPECT_NEAR(given.quantile(0.1), -2.0 + 2.0 * student_t_quantile(0.1, 9.0), 1e-9);
    EXPECT_NEAR(given.tail_probability(3.0), tail_probability(kMarginals[1], 3.0), 1e-12);
  }
}

// p(x₁ | x₀, x₂) = p(x₀, x₁, x₂)/p(x₀, x₂), and its probabilities are integrals of that.
TEST(JointDistribution, ConditionalsAreJointOverMarginal) {
  const JointDistribution joint(kThree, kFeatures, kMarginals);
  const std::array<std::size_t, 2> others{0, 2};
  const JointDistribution pair(kThree, others, std::array{kMarginals[0], kMarginals[2]});
  const double x0 = 2.5, x2 = -0.3;
  const double below = pair.log_density(std::array{x0, x2});
  const Conditional given = joint.each_given_others(std::array{x0, 7.0, x2})[1];
  for (const double x : {-9.0, -2.0, 0.5, 3.0, 8.0}) {
    const std::array all{x0, x, x2};
    EXPECT_NEAR(given.log_density(x), joint.log_density(all) - below, 1e-10);
    EXPECT_NEAR(joint.each_given_others(all)[1].log_density(x), given.log_density(x), 1e-12)
        << "its own value does not count";
    const auto density = [&](double y) { return std::exp(given.log_density(y)); };
    const double probability = boost::math::quadrature::gauss_kronrod<double, 61>::integrate(
        density, -kInfinity, x, 15, 1e-11);
    EXPECT_NEAR(given.probability_below(x), probability, 1e-8);
    EXPECT_NEAR(given.probability_above(x), 1 - probability, 1e-8);
    EXPECT_NEAR(given.tail_probability(x), 2 * std::min(probability, 1 - probability), 1e-8);
    EXPECT_NEAR(given.quantile(given.probability_below(x)), x, 1e-7);
  }
  EXPECT_NEAR(given.probability_below(given.median()), 0.5, 1e-12);
  EXPECT_GT(given.median(), kMarginals[1].mean) << "0.8 of what lies above";
}

TEST(JointDistribution, DoesNotKnowOfUnits) {
  auto inches = kMarginals;
  std::array x{1.7, 3.0, -0.4}, in_inches = x;
  for (std::size_t i = 0; i < 3; ++i) {
    inches[i].mean = 7 + 2.54 * inches[i].mean;
    inches[i].scale *= 2.54;
    in_inches[i] = 7 + 2.54 * x[i];
  }
  const JointDistribution joint(kThree, kFeatures, kMarginals), same(kThree, kFeatures, inches);
  EXPECT_NEAR(same.log_density(in_inches), joint.log_density(x) - 3 * std::log(2.54), 1e-10);
  EXPECT_NEAR(same.each_given_others(in_inches)[0].median(),
              7 + 2.54 * joint.each_given_others(x)[0].median(), 1e-9);
}

// Ranks of a sample, from 0 to 1.
std::vector<double> ranks(const std::vector<double>& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return x[a] < x[b]; });
  std::vector<double> rank(x.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    rank[order[k]] = (double(k) + 0.5) / double(x.size());
  return rank;
}

TEST(JointDistribution, DrawsHaveItsQuantilesAndRankCorrelations) {
  constexpr std::size_t kDraws = 20000;
  const JointDistribution joint(kThree, kFeatures, kMarginals);
  std::array<std::vector<double>, 3> drawn;
  for (std::size_t k = 0; k < kDraws; ++k) {
    Generator random(3, "draws", k);
    std::array<double, 3> x{};
    joint.draw(random, x);
    for (std::size_t i = 0; i < 3; ++i) drawn[i].push_back(x[i]);
    Generator again(3, "draws", k);
    std::array<double, 3> same{};
    joint.draw(again, same);
    EXPECT_EQ(same, x);
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (const double p : {0.05, 0.3, 0.5, 0.9}) {
      const double x =
          kMarginals[i].mean + kMarginals[i].scale * standard_quantile(p, kMarginals[i].dof);
      const auto share = double(std::count_if(drawn[i].begin(), drawn[i].end(),
                                              [&](double d) { return d <= x; })) /
                         kDraws;
      EXPECT_NEAR(share, p, 4 * std::sqrt(p * (1 - p) / kDraws));
    }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = ranks(drawn[i]), b = ranks(drawn[j]);
      double covariance = 0;
      for (std::size_t k = 0; k < kDraws; ++k) covariance += (a[k] - 0.5) * (b[k] - 0.5) / kDraws;
      // Spearman's of a Gaussian copula is 6/π·asin(r/2); its deviation here is about 1/√n.
      const double r = kThree.matrix()(static_cast<Index>(i), static_cast<Index>(j));
      EXPECT_NEAR(12 * covariance, 6 / std::numbers::pi * std::asin(r / 2),
                  4 / std::sqrt(double(kDraws)));
    }
}

// A calibration that leaves tails and widths as a feature's own, with these correlations.
Model correlated_model(const Correlations& correlations) {
  Model model = small_trained_model().with_classifier(small_trained_model().config, {"0", "1"});
  model.calibration.features.resize(3);
  for (FeatureCalibration& own : model.calibration.features) own.dof = 5;
  model.calibration.correlations = correlations;
  return model;
}

TEST(JointScores, WithoutCorrelationAreThoseOfEachByItself) {
  ThreadPool pool(2);
  const Dataset& data = small_synthetic();
  const auto all = every_series(data);
  const Model model = correlated_model(three(0, 0, 0));
  const DetailedEvaluation detailed = evaluate_in_detail(model, data, all, pool);
  ASSERT_TRUE(detailed.joint);
  const JointScores same = *detailed.joint;
  const Evaluation& alone = detailed.evaluation;
  ASSERT_TRUE(same.interpolation && same.extrapolation);
  EXPECT_NEAR(same.interpolation->alone_nll, alone.interpolation->nll.mean, 1e-9);
  EXPECT_NEAR(same.interpolation->together_nll, alone.interpolation->nll.mean, 1e-9);
  EXPECT_NEAR(same.extrapolation->together_nll, alone.extrapolation->nll.mean, 1e-9);
  const Model other = correlated_model(kThree);
  const JointScores differ = *evaluate_in_detail(other, data, all, pool).joint;
  EXPECT_EQ(differ.extrapolation->alone_nll, same.extrapolation->alone_nll);
  EXPECT_NE(differ.extrapolation->together_nll, same.extrapolation->together_nll);
  ThreadPool one(1);
  EXPECT_EQ(evaluate_in_detail(other, data, all, one).joint->extrapolation->together_nll,
            differ.extrapolation->together_nll);
  EXPECT_FALSE(evaluate_in_detail(small_trained_model(), data, all, pool).joint);
}

}  // namespace
}  // namespace edict
