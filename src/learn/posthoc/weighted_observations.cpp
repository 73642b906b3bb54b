#include "learn/posthoc/weighted_observations.h"

#include <algorithm>

#include "model/infer.h"

namespace edict {

std::vector<std::vector<WeightedObservation>> weighted_observations(const Model& model,
                                                                    const Timelines& timelines,
                                                                    ThreadPool& pool,
                                                                    StopFlag stop) {
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  std::vector<std::vector<WeightedObservation>> of_feature(model.features.size());
  const std::size_t block = block_of_series(model);
  for (std::size_t begin = 0; begin < timelines.size(); begin += block) {
    const std::vector<Timeline<float>> some =
        timelines.written(model, begin, std::min(block, timelines.size() - begin), pool, options);
    const std::vector<Answer> answers = infer_uncalibrated(model, examples_of(some), pool, options);
    for (std::size_t i = 0; i < some.size(); ++i) {
      std::size_t before = 0, after = 0;
      each_observation(some[i], answers[i],
                       [&](std::size_t s, std::int32_t, const Marginal&, double) {
                         ++(some[i].stops[s].time < some[i].cut ? before : after);
                       });
      const std::vector<double> ahead = horizons(some[i]);
      std::size_t queries = 0, stop_before = some[i].stops.size();
      each_observation(
          some[i], answers[i],
          [&](std::size_t s, std::int32_t feature, const Marginal& expected, double x) {
            if (s != stop_before) ++queries;
            stop_before = s;
            const std::size_t alike = some[i].stops[s].time < some[i].cut ? before : after;
            const auto j = static_cast<std::size_t>(feature);
            of_feature[j].push_back({{s, j, x, expected},
                                     begin + i,
                                     1.0 / static_cast<double>(alike),
                                     ahead[queries - 1]});
          });
    }
  }
  return of_feature;
}

}  // namespace edict
