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
    Expectations& own = result[i];
    own.series = series[i];
    auto marginal = answers[i].marginals.begin();
    for (std::size_t e = data.first_event[series[i]]; e < data.first_event[series[i] + 1]; ++e)
      for (const Observation& o : data.observed(e)) {
        const auto j = static_cast<std::size_t>(o.feature);
        own.observations.push_back({e, j, o.value, to_raw(units, j, *marginal++)});
      }
    own.clips = clips_of(model, data, series[i], timelines[i], answers[i].clips);
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
