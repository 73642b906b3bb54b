#include "edict/model/encode.h"

#include <fmt/core.h>

#include "edict/core/error.h"
#include "edict/model/infer.h"

namespace edict {

Encoding encode(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                ThreadPool& pool, const Guard& guard, StopFlag stop) {
  model.check_data(data);
  if (!model.network->has_distribution())
    throw Error(fmt::format("{} has no state h(T) to encode series to; it classifies by itself",
                            model.config.model.kind));
  std::vector<Agenda<float>> agendas;
  Encoding result;
  for (const std::size_t i : series) {
    agendas.push_back(encoding_agenda(model.protocol, data, i));
    result.observations += agendas.back().feature.size();
  }
  InferenceOptions options = model.inference_options(guard);
  options.marginals = InferenceOptions::Marginals::none;
  options.states = true;
  options.stop = stop;
  const std::vector<Answer> answers = infer(model, examples_of(agendas), pool, options);
  result.states.resize(model.network->hidden() * static_cast<Index>(model.members()),
                       static_cast<Index>(series.size()));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::copy(answers[i].states.begin(), answers[i].states.end(),
              result.states.col(static_cast<Index>(i)).data());
    result.clipped += answers[i].clips.size();
  }
  return result;
}

}  // namespace edict
