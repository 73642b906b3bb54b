#include "engine/inference.h"

#include <fmt/core.h>

#include <cmath>

#include "base/error.h"

namespace edict {
namespace {

// A φ that is finite may still stand for a variance that is infinite or 0: it holds its logarithm.
template <class S, Head H>
void check_answer(const JumpOde<H>& network, const Timeline<S>& timeline, const Answer& answer,
                  InferenceOptions::Marginals asked) {
  const bool all = asked == InferenceOptions::Marginals::all;
  auto next = answer.marginals.begin();
  for (const auto& stop : timeline.stops) {
    if (!(stop.what & Timeline<S>::kQuery)) continue;
    const Index count = all ? network.features : static_cast<Index>(stop.count);
    for (Index k = 0; k < count; ++k) {
      const Marginal& m = *next++;
      if (std::isfinite(m.mean + m.aleatoric + m.epistemic + m.scale) && m.scale > 0) continue;
      const Index j = all ? k : timeline.feature[stop.first + static_cast<std::size_t>(k)];
      throw Error(fmt::format(
          "series {}: the distribution of {} at time {} {}; check its values, and train the model "
          "again with a lower train.learning_rate",
          timeline.id, network.feature_name(j), network.time_origin + stop.time * network.time_unit,
          m.scale == 0 ? "has no width" : "is not finite"));
    }
  }
}

}  // namespace

template <class S, Head H>
LossSums Inference<S, H>::run(Transposed<S> weights, std::span<const BasicExample<S>> examples,
                              const InferenceOptions& options, std::span<Answer> answers) {
  const auto features = static_cast<std::size_t>(this->network_.features);
  const auto hidden = static_cast<std::size_t>(this->network_.hidden);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::size_t queries = 0, observations = 0;
    for (const auto& stop : examples[i].timeline->stops)
      if (stop.what & Timeline<S>::kQuery) ++queries, observations += stop.count;
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
  if (options.marginals != InferenceOptions::Marginals::none)
    for (std::size_t i = 0; i < answers.size(); ++i)
      check_answer(this->network_, *examples[i].timeline, answers[i], options.marginals);
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
