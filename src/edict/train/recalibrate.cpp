#include "edict/train/recalibrate.h"

#include <cmath>

#include "edict/model/infer.h"

namespace edict {
namespace {

// Of fewer observations the mean level is known to no better than 0.29/√n = 2 %.
constexpr std::size_t kEnough = 200;

struct Judged {
  std::int32_t feature;
  Marginal expected;
  double x;
  double weight;
};

double mean_level(std::span<const Judged> observations, double factor) {
  double sum = 0, weight = 0;
  for (const Judged& o : observations) {
    Marginal scaled = o.expected;
    scaled.scale *= factor;
    sum += o.weight * central_level(scaled, o.x);
    weight += o.weight;
  }
  return sum / weight;
}

// The wider, the lower the level: halved between a sixteenth and sixteen times, in logarithms.
double balanced_factor(std::span<const Judged> observations) {
  double narrow = std::log(1.0 / 16), wide = std::log(16.0);
  for (int i = 0; i < 20; ++i) {  // to 5e-6
    const double middle = 0.5 * (narrow + wide);
    (mean_level(observations, std::exp(middle)) > 0.5 ? narrow : wide) = middle;
  }
  return std::exp(0.5 * (narrow + wide));
}

}  // namespace

std::vector<double> spread_factors(const Model& model, const Agendas& agendas, ThreadPool& pool,
                                   StopFlag stop) {
  const double cut = model.protocol.to_model_time(model.protocol.t_cut);
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  std::vector<std::vector<Judged>> of_feature(model.features.size());
  std::vector<Judged> of_series;
  const std::size_t block = block_of_series(model);
  for (std::size_t begin = 0; begin < agendas.size(); begin += block) {
    const std::vector<Agenda<float>> some =
        agendas.written(begin, std::min(block, agendas.size() - begin), pool);
    const std::vector<Answer> answers = infer(model, examples_of(some), pool, options);
    for (std::size_t i = 0; i < some.size(); ++i) {
      of_series.clear();
      std::size_t before = 0;  // how many of them come before t_cut
      each_observation(
          some[i], answers[i],
          [&](std::size_t s, std::int32_t feature, const Marginal& expected, double x) {
            of_series.push_back({feature, expected, x, 0});
            before += some[i].stops[s].time < cut;
          });
      for (std::size_t k = 0; k < of_series.size(); ++k) {
        const std::size_t alike = k < before ? before : of_series.size() - before;
        of_series[k].weight = 1.0 / static_cast<double>(alike);
        of_feature[static_cast<std::size_t>(of_series[k].feature)].push_back(of_series[k]);
      }
    }
  }
  std::vector<double> factors(model.features.size(), 1.0);
  pool.for_each(factors.size(), [&](std::size_t j, std::size_t) {
    if (of_feature[j].size() >= kEnough) factors[j] = balanced_factor(of_feature[j]);
  });
  return factors;
}

void recalibrate(Model& model, const Agendas& agendas, ThreadPool& pool, StopFlag stop) {
  // A member's scale is all of the spread of a single model, but not of an ensemble, whose members
  // also disagree: the factors that are left after a round shrink by that share, about a third.
  constexpr int kEnsembleRounds = 4;
  const int rounds = model.members() == 1 ? 1 : kEnsembleRounds;
  std::vector<Vector<float>> before;
  for (std::size_t m = 0; m < model.members(); ++m) before.push_back(model.params_of(m));
  try {
    for (int round = 0; round < rounds; ++round) {
      const std::vector<double> factors = spread_factors(model, agendas, pool, stop);
      for (std::size_t m = 0; m < model.members(); ++m)
        model.network->rescale(factors, model.params_of(m).data());
    }
  } catch (const Interrupted&) {
    for (std::size_t m = 0; m < model.members(); ++m) model.params_of(m) = before[m];
    throw;
  }
}

}  // namespace edict
