// The distribution of several features at one moment, where a model knows which of them err
// together (model/correlations.h): a Gaussian copula.
//
// With nᵢ = Φ⁻¹(Fᵢ(xᵢ)) the normal scores by the features' own Student-t, n ~ N(0, R). So every
// marginal is exactly the model's, whatever its degrees of freedom; without correlations features
// are independent; and what some features say of another is a Gaussian of its score, whose
// quantiles and probabilities need no sampling:
//
//   log p(x) = Σ log fᵢ(xᵢ) − ½ log|R| − ½ nᵀ(R⁻¹ − I)n
//   nᵢ | others ~ N(−Σⱼ≠ᵢ Pᵢⱼnⱼ/Pᵢᵢ, 1/Pᵢᵢ),  P = R⁻¹
//
// A normal score does not know of units, so marginals may be in the data's or in the model's.
#pragma once

#include <Eigen/Cholesky>
#include <span>
#include <vector>

#include "base/each_run.h"
#include "base/generator.h"
#include "engine/heads/marginal.h"
#include "model/correlations.h"

namespace edict {

// Of one feature, given others: its score is N(mean, deviation²). It is no Student-t.
struct Conditional {
  Marginal marginal;  // without the others
  double mean = 0.0, deviation = 1.0;

  // How many deviations the score of x is above its mean: standard normal. And the x that has it.
  double standard_score(double x) const;
  double at_standard_score(double z) const;
  double median() const { return at_standard_score(0.0); }
  double quantile(double p) const;  // 0 < p < 1
  double probability_below(double x) const;
  double probability_above(double x) const;
  // How often something at least as far out, to either side, is to be expected.
  double tail_probability(double x) const;
  double log_density(double x) const;
};

class JointDistribution {
 public:
  // Of these features, each once, by their marginals in the same order. `correlations` may be
  // empty.
  JointDistribution(const Correlations& correlations, std::span<const std::size_t> features,
                    std::span<const Marginal> marginals);

  double log_density(std::span<const double> x) const;
  // Of each, given the others.
  std::vector<Conditional> each_given_others(std::span<const double> x) const;
  void draw(Generator& random, std::span<double> x) const;

 private:
  Vector<double> scores(std::span<const double> x) const;
  // The score of the place itself must be 0.
  Conditional conditional(std::size_t place, const Vector<double>& others) const;

  std::vector<Marginal> marginals_;
  Eigen::LLT<Matrix<double>> r_;
  Matrix<double> precision_;  // P
};

// visit(observations of an event, their distribution, what was observed) for every event. An
// Observation has event, feature, expected and observed.
template <class Observation, class Visit>
void each_event(const Correlations& correlations, std::span<Observation> observations,
                const Visit& visit) {
  std::vector<std::size_t> features;
  std::vector<Marginal> expected;
  std::vector<double> observed;
  each_run(
      observations, [](const auto& a, const auto& b) { return a.event == b.event; },
      [&](std::span<Observation> event) {
        features.clear();
        expected.clear();
        observed.clear();
        for (const auto& o : event) {
          features.push_back(o.feature);
          expected.push_back(o.expected);
          observed.push_back(o.observed);
        }
        visit(event, JointDistribution(correlations, features, expected),
              std::span<const double>(observed));
      });
}

}  // namespace edict
