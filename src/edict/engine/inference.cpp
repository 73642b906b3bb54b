#include "edict/engine/inference.h"

namespace edict {

template <class S, Head H>
LossSums Inference<S, H>::run(Transposed<S> weights, std::span<const BasicExample<S>> examples,
                              const InferenceOptions& options, std::span<Answer> answers) {
  const auto features = static_cast<std::size_t>(this->network_.features);
  const auto hidden = static_cast<std::size_t>(this->network_.hidden);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::size_t queries = 0, observations = 0;
    for (const auto& stop : examples[i].agenda->stops)
      if (stop.what & Agenda<S>::kQuery) ++queries, observations += stop.count;
    using Marginals = InferenceOptions::Marginals;
    answers[i].marginals.resize(options.marginals == Marginals::all        ? queries * features
                                : options.marginals == Marginals::observed ? observations
                                                                           : 0);
    answers[i].states.resize(options.states ? queries * hidden : 0);
    answers[i].clips.clear();
  }
  this->options_ = &options;
  this->answers_ = answers;
  this->loss_ = {};
  this->begin(weights, examples);
  do this->forget_tape();
  while (this->tick());
  if (options.final_states)
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto h = this->state_.h.col(static_cast<Index>(i));
      const auto memory = this->state_.memory.col(static_cast<Index>(i));
      answers[i].final_state.assign(h.data(), h.data() + h.size());
      answers[i].final_state.insert(answers[i].final_state.end(), memory.data(),
                                    memory.data() + memory.size());
      answers[i].final_dt = this->state_.columns[i].clock.dt;
    }
  return this->sums_;
}

template class Inference<float, NiwHead>;
template class Inference<double, NiwHead>;
template class Inference<float, GaussianHead>;
template class Inference<double, GaussianHead>;

}  // namespace edict
