#include "model/encode.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "model/infer.h"

namespace edict {

Encoding encode(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                ThreadPool& pool, const Guard& guard, StopFlag stop) {
  model.check_data(data);
  if (!model.network->has_distribution())
    throw Error(fmt::format("{} has no state h(T) to encode series to; it classifies by itself",
                            model.config.model.kind));
  Encoding result;
  InferenceOptions options = model.inference_options(guard);
  options.marginals = InferenceOptions::Marginals::none;
  options.states = true;
  options.stop = stop;
  result.states.resize(model.network->hidden() * static_cast<Index>(model.members.size()),
                       static_cast<Index>(series.size()));
  const std::size_t block = block_of_series(model);
  for (std::size_t begin = 0; begin < series.size(); begin += block) {
    std::vector<Timeline<float>> timelines;
    for (const std::size_t i : series.subspan(begin, std::min(block, series.size() - begin))) {
      timelines.push_back(encoding_timeline(model.protocol, data, i));
      result.observations += timelines.back().feature.size();
    }
    const std::vector<Answer> answers = infer(model, examples_of(timelines), pool, options);
    for (std::size_t k = 0; k < answers.size(); ++k) {
      std::copy(answers[k].states.begin(), answers[k].states.end(),
                result.states.col(static_cast<Index>(begin + k)).data());
      result.clipped += answers[k].clips.size();
    }
  }
  return result;
}

}  // namespace edict
