#include "edict/train/recalibrate.h"

#include <cmath>

#include "edict/models/ask_all.h"

namespace edict {
namespace {

// Of fewer observations the mean level is known to no better than 0.29/√n = 2 %.
constexpr std::size_t kEnough = 200;

struct Judged {
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
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (narrow + wide);
    (mean_level(observations, std::exp(middle)) > 0.5 ? narrow : wide) = middle;
  }
  return std::exp(0.5 * (narrow + wide));
}

}  // namespace

std::vector<double> spread_factors(const Model& model, std::span<const Agenda<float>> agendas,
                                   ThreadPool& pool) {
  const std::size_t features = model.features.size();
  std::vector<std::vector<std::pair<std::int32_t, Judged>>> of_series(agendas.size());
  std::vector<Example> examples;
  for (const auto& agenda : agendas) examples.push_back({&agenda});
  ask_all(model, examples, pool, [&](std::size_t first) {
    Asking asking;
    asking.on_query = [&, first](std::size_t slot, std::size_t stop,
                                 std::span<const Marginal> expected, std::span<const float>) {
      const Agenda<float>& agenda = agendas[first + slot];
      const auto& at = agenda.stops[stop];
      for (std::uint32_t k = at.first; k < at.first + at.count; ++k) {
        const std::int32_t j = agenda.feature[k];
        of_series[first + slot].push_back(
            {j, {expected[static_cast<std::size_t>(j)], agenda.value[k], 1.0}});
      }
    };
    return asking;
  });
  std::vector<std::vector<Judged>> of_feature(features);
  for (const auto& series : of_series)
    for (auto [j, observation] : series) {
      observation.weight = 1.0 / static_cast<double>(series.size());
      of_feature[static_cast<std::size_t>(j)].push_back(observation);
    }
  std::vector<double> factors(features, 1.0);
  pool.for_each(features, [&](std::size_t j, std::size_t) {
    if (of_feature[j].size() >= kEnough) factors[j] = balanced_factor(of_feature[j]);
  });
  return factors;
}

}  // namespace edict
