#include "edict/train/weighted_observations.h"

#include "edict/model/infer.h"

namespace edict {

std::vector<std::vector<WeightedObservation>> weighted_observations(
    const Model& model, std::span<const Agenda<float>> agendas, ThreadPool& pool, StopFlag stop) {
  const double cut = model.protocol.to_model_time(model.protocol.t_cut);
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  const std::vector<Answer> answers =
      infer_uncalibrated(model, examples_of(agendas), pool, options);
  std::vector<std::vector<WeightedObservation>> of_feature(model.features.size());
  for (std::size_t i = 0; i < agendas.size(); ++i) {
    std::size_t before = 0, after = 0;
    each_observation(agendas[i], answers[i],
                     [&](std::size_t s, std::int32_t, const Marginal&, double) {
                       ++(agendas[i].stops[s].time < cut ? before : after);
                     });
    each_observation(agendas[i], answers[i],
                     [&](std::size_t s, std::int32_t feature, const Marginal& expected, double x) {
                       const std::size_t alike = agendas[i].stops[s].time < cut ? before : after;
                       of_feature[static_cast<std::size_t>(feature)].push_back(
                           {i, expected, x, 1.0 / static_cast<double>(alike)});
                     });
  }
  return of_feature;
}

}  // namespace edict
