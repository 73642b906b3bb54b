#include "ask/expectations.h"

#include "ask/classification.h"
#include "model/infer.h"

namespace edict {

std::vector<Expectations> expectations(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series,
                                       const ExpectationRequest& request, ThreadPool& pool) {
  std::vector<Timeline<float>> timelines(series.size());
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    timelines[i] = encoding_timeline(model.protocol, data, series[i]);
    timelines[i].stops.pop_back();  // the query at the end
    for (auto& stop : timelines[i].stops) stop.what |= Timeline<float>::kQuery;
  });
  std::vector<Example> examples;
  for (const auto& timeline : timelines)
    examples.push_back({&timeline, request.from_cut
                                       ? timeline.cut
                                       : model.protocol.to_model_time(request.absorb_until)});
  InferenceOptions options = model.inference_options(request.guard);
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = request.stop;
  const std::vector<Answer> answers = infer(model, examples, pool, options);

  const Standardisation& units = model.protocol.standardisation;
  std::vector<Expectations> result(series.size());
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    const Timeline<float>& timeline = timelines[i];
    const std::size_t first = data.first_observation[data.first_event[series[i]]];
    for (std::size_t k = 0; k < answers[i].marginals.size(); ++k)
      result[i].marginals.push_back(to_raw(units, static_cast<std::size_t>(data.feature[first + k]),
                                           answers[i].marginals[k]));
    for (const Clipped& clip : answers[i].clips) {
      std::size_t k = timeline.stops[clip.stop].first;
      while (timeline.feature[k] != clip.feature) ++k;
      const double used = units.to_raw(static_cast<std::size_t>(clip.feature), clip.used);
      result[i].clips.push_back({first + k, used, clip.sigmas});
    }
  });
  if (request.classes && model.network->classes() > 0) {
    const ClassProbabilities end =
        class_probabilities(model, data, series, pool, request.guard, request.stop);
    for (std::size_t i = 0; i < series.size(); ++i)
      result[i].probability.assign(end.row(i).begin(), end.row(i).end());
  }
  return result;
}

}  // namespace edict
