#include "edict/eval/surprise.h"

#include <cmath>

#include "edict/eval/classification.h"
#include "edict/eval/distribution.h"
#include "edict/model/infer.h"

namespace edict {
Surprise surprise(const Marginal& expected, double x) {
  const double deviation = std::sqrt(expected.aleatoric + expected.epistemic);
  return {(x - expected.mean) / (std::isfinite(deviation) ? deviation : expected.scale),
          -log_density(expected, x)};
}

std::vector<Expectations> expectations(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series,
                                       const ExpectationRequest& request, ThreadPool& pool) {
  std::vector<Agenda<float>> agendas(series.size());
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    agendas[i] = encoding_agenda(model.protocol, data, series[i]);
    agendas[i].stops.pop_back();  // the query at the end
    for (auto& stop : agendas[i].stops) stop.what |= Agenda<float>::kQuery;
  });
  std::vector<Example> examples;
  for (const auto& agenda : agendas)
    examples.push_back({&agenda, model.protocol.to_model_time(request.absorb_until)});
  InferenceOptions options = model.inference_options(request.guard);
  options.marginals = InferenceOptions::Marginals::observed;
  options.final_states = model.network->classes() > 0;
  options.stop = request.stop;
  const std::vector<Answer> answers = infer(model, examples, pool, options);

  const Standardisation& units = model.protocol.standardisation;
  const Vector<float> classifier = model.params.tail(model.classifier_size());
  std::vector<Expectations> result(series.size());
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    const Agenda<float>& agenda = agendas[i];
    const std::size_t first = data.first_observation[data.first_event[series[i]]];
    for (std::size_t k = 0; k < answers[i].marginals.size(); ++k)
      result[i].marginals.push_back(to_raw(units, static_cast<std::size_t>(data.feature[first + k]),
                                           answers[i].marginals[k]));
    for (const Clipped& clip : answers[i].clips) {
      std::size_t k = agenda.stops[clip.stop].first;
      while (agenda.feature[k] != clip.feature) ++k;
      const double used = units.to_raw(static_cast<std::size_t>(clip.feature), clip.used);
      result[i].clips.push_back({first + k, used, clip.sigmas});
    }
    if (options.final_states) {
      const Matrix<float> state = Eigen::Map<const Matrix<float>>(answers[i].final_state.data(),
                                                                  model.network->hidden(), 1);
      result[i].probability = class_probabilities(model, state, classifier).values;
    }
  });
  return result;
}

}  // namespace edict
