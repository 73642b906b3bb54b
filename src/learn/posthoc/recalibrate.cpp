#include "learn/posthoc/recalibrate.h"

#include <cmath>

#include "learn/posthoc/weighted_observations.h"

namespace edict {
namespace {

// Of fewer observations the mean level is known to no better than 0.29/√n = 2 %.
constexpr std::size_t kEnough = 200;

double mean_level(std::span<const WeightedObservation> observations, double factor) {
  double sum = 0, weight = 0;
  for (const WeightedObservation& o : observations) {
    Marginal scaled = o.expected;
    scaled.scale *= factor;
    sum += o.weight * central_level(scaled, o.x);
    weight += o.weight;
  }
  return sum / weight;
}

// The wider, the lower the level: halved between a sixteenth and sixteen times, in logarithms.
double balanced_factor(std::span<const WeightedObservation> observations) {
  double narrow = std::log(1.0 / 16), wide = std::log(16.0);
  for (int i = 0; i < 20; ++i) {  // to 5e-6
    const double middle = 0.5 * (narrow + wide);
    (mean_level(observations, std::exp(middle)) > 0.5 ? narrow : wide) = middle;
  }
  return std::exp(0.5 * (narrow + wide));
}

}  // namespace

std::vector<double> spread_factors(const Model& model, const Timelines& timelines, ThreadPool& pool,
                                   StopFlag stop) {
  const auto of_feature = weighted_observations(model, timelines, pool, stop);
  std::vector<double> factors(model.features.size(), 1.0);
  pool.for_each(factors.size(), [&](std::size_t j, std::size_t) {
    if (of_feature[j].size() >= kEnough) factors[j] = balanced_factor(of_feature[j]);
  });
  return factors;
}

void recalibrate(Model& model, const Timelines& timelines, ThreadPool& pool, StopFlag stop) {
  // A member's scale is all of the spread of a single model, but not of an ensemble, whose members
  // also disagree: the factors that are left after a round shrink by that share, about a third.
  constexpr int kEnsembleRounds = 4;
  const int rounds = model.members() == 1 ? 1 : kEnsembleRounds;
  std::vector<Vector<float>> before;
  for (std::size_t m = 0; m < model.members(); ++m) before.push_back(model.params_of(m));
  try {
    for (int round = 0; round < rounds; ++round) {
      const std::vector<double> factors = spread_factors(model, timelines, pool, stop);
      for (std::size_t m = 0; m < model.members(); ++m)
        model.network->rescale(factors, model.params_of(m).data());
    }
  } catch (const Interrupted&) {
    for (std::size_t m = 0; m < model.members(); ++m) model.params_of(m) = before[m];
    throw;
  }
}

}  // namespace edict
