#include "ask/stream_engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/ensemble.h"

namespace edict {

StreamEngine::StreamEngine(std::shared_ptr<const Model> model, const Guard& guard)
    : model_(std::move(model)),
      fingerprint_(fingerprint(*model_)),
      worker_(model_->network->worker()),
      absorb_(model_->inference_options(guard)),
      answers_(model_->members.size()),
      own_(model_->members.size()) {
  if (!model_->network->has_distribution()) throw no_distribution(model_->config.model.kind);
  absorb_.marginals = InferenceOptions::Marginals::none;
  absorb_.final_states = true;
  for (std::size_t m = 0; m < model_->members.size(); ++m)
    weights_.push_back(model_->network->weights(model_->members[m].params.data()));
}

StreamState StreamEngine::begin(std::optional<double> start, std::span<const double> covariates) {
  const Protocol& protocol = model_->protocol;
  const std::size_t statics = model_->statics.size();
  if (!covariates.empty() && covariates.size() != statics)
    throw Error(fmt::format("the model has {} static covariates, {} were given", statics,
                            covariates.size()));
  if (start && !std::isfinite(*start))
    throw Error(fmt::format("a stream cannot start at time {}", *start));
  if (!start && protocol.start == ClockStart::zero) start = protocol.origin;
  Timeline<float> timeline;
  for (std::size_t c = 0; c < covariates.size(); ++c)
    timeline.covariates.push_back(protocol.to_model_covariate(c, covariates[c]));
  const Example example{&timeline};
  StreamState state;
  state.model_ = fingerprint_;
  state.time_ = start.value_or(StreamState::kNotStarted);
  for (std::size_t m = 0; m < weights_.size(); ++m) {
    Answer answer;
    worker_->infer(weights_[m], {&example, 1}, absorb_, {&answer, 1});
    if (m == 0)
      state.dt_ = answer.final_dt;
    else
      state.other_dt_.push_back(answer.final_dt);
    state.h_.insert(state.h_.end(), answer.final_state.begin(), answer.final_state.end());
  }
  return state;
}

void StreamEngine::check(const StreamState& state) {
  const double now = state.time();
  const Question question{&state, now == StreamState::kNotStarted ? model_->protocol.origin : now};
  distribution({&question, 1});
}

// Where the clock of a state stands when `next` comes.
double StreamEngine::time_of(const StreamState& state, double next) const {
  return state.time() == StreamState::kNotStarted ? model_->protocol.start_of(next) : state.time();
}

void StreamEngine::check(const StreamState& state, double time) const {
  if (state.h_.empty())
    throw Error("a stream state that was never begun; make one with StreamEngine::begin");
  if (state.model() != fingerprint_ ||
      state.h_.size() !=
          static_cast<std::size_t>(model_->network->state_rows()) * weights_.size() ||
      state.other_dt_.size() + 1 != weights_.size())
    throw Error("the stream's state belongs to another model; begin the stream again");
  if (!std::isfinite(time) || time < time_of(state, time))
    throw Error(
        fmt::format("time {} lies before {}, where the stream stands; a stream only goes "
                    "forward",
                    time, time_of(state, time)));
}

// Each member's answers to the first timelines, one a state, from these states.
void StreamEngine::run(std::span<const StreamState* const> states,
                       const InferenceOptions& options) {
  constexpr std::size_t kTogether = 64;
  const std::size_t count = states.size();
  const auto rows = static_cast<std::size_t>(model_->network->state_rows());
  for (std::size_t m = 0; m < weights_.size(); ++m) {
    std::vector<Answer>& answers = answers_[m];
    if (answers.size() < count) {
      answers.resize(count);
      // What a single event can add to it, so that nothing is allocated later.
      for (Answer& answer : answers) answer.clips.reserve(model_->features.size());
    }
    examples_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      examples_.push_back({&timelines_[i]});
      examples_.back().state = states[i]->h_.data() + m * rows;
      examples_.back().dt = m == 0 ? states[i]->dt_ : states[i]->other_dt_[m - 1];
    }
    for (std::size_t first = 0; first < count; first += kTogether) {
      const std::size_t n = std::min(kTogether, count - first);
      worker_->infer(weights_[m], std::span(examples_).subspan(first, n), options,
                     std::span(answers).subspan(first, n));
    }
  }
}

void StreamEngine::observe(std::span<const Event> events) {
  const std::vector<std::string>& names = model_->features;
  seen_.clear();
  for (const Event& event : events) seen_.push_back(event.state);
  if (events.size() > 1) std::sort(seen_.begin(), seen_.end());
  if (std::adjacent_find(seen_.begin(), seen_.end()) != seen_.end())
    throw Error("a stream is given twice in one batch; give its events one batch after the other");
  if (timelines_.size() < events.size()) timelines_.resize(events.size());
  states_.clear();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    check(*event.state, event.time);
    Timeline<float>& timeline = timelines_[i];
    timeline.clear(model_->protocol.to_model_time(time_of(*event.state, event.time)));
    timeline.stop(model_->protocol.to_model_time(event.time), Timeline<float>::kAbsorb);
    for (const Observation& o : event.observed) {
      const auto j = static_cast<std::size_t>(o.feature);
      if (o.feature < 0 || j >= names.size())
        throw Error(
            fmt::format("feature {} does not exist; the model has {}", o.feature, names.size()));
      if (!std::isfinite(o.value))
        throw Error(fmt::format("the value of '{}' at time {} is not finite; leave it out",
                                names[j], event.time));
      if (std::find(timeline.feature.begin(), timeline.feature.end(), o.feature) !=
          timeline.feature.end())
        throw Error(fmt::format("feature '{}' is given twice at time {}", names[j], event.time));
      timeline.observe(o.feature, model_->protocol.to_model_value(j, o.value));
    }
    states_.push_back(event.state);
  }
  run(states_, absorb_);
  for (std::size_t i = 0; i < events.size(); ++i)
    for (std::size_t m = 0; m < weights_.size(); ++m)
      if (!std::ranges::all_of(answers_[m][i].final_state,
                               [](float x) { return std::isfinite(x); }))
        throw Error(fmt::format("the values at time {} make the state infinite; leave them out",
                                events[i].time));
  // Only now, when every member has taken everything, does a state move.
  for (std::size_t i = 0; i < events.size(); ++i) {
    // Without an observation there was no event: the state stays where it is.
    if (events[i].observed.empty()) continue;
    StreamState& state = *events[i].state;
    state.time_ = events[i].time;
    auto to = state.h_.begin();
    for (std::size_t m = 0; m < weights_.size(); ++m) {
      const Answer& answer = answers_[m][i];
      (m == 0 ? state.dt_ : state.other_dt_[m - 1]) = answer.final_dt;
      to = std::ranges::copy(answer.final_state, to).out;
    }
  }
}

std::span<const Marginal> StreamEngine::distribution(std::span<const Question> questions) {
  const std::size_t features = model_->features.size();
  if (timelines_.size() < questions.size()) timelines_.resize(questions.size());
  states_.clear();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& [state, time] = questions[i];
    check(*state, time);
    // The way to what is asked one after the other is taken once.
    const double now = time_of(*state, time);
    if (i == 0 || questions[i - 1].state != state || time < questions[i - 1].time ||
        now != time_of(*state, questions[i - 1].time)) {
      timelines_[states_.size()].clear(model_->protocol.to_model_time(now));
      states_.push_back(state);
    }
    timelines_[states_.size() - 1].stop(model_->protocol.to_model_time(time),
                                        Timeline<float>::kQuery);
  }
  run(states_, ask_);
  marginals_.clear();
  for (std::size_t i = 0; i < states_.size(); ++i)
    for (std::size_t k = 0; k < timelines_[i].stops.size() * features; ++k) {
      const std::size_t j = k % features;
      for (std::size_t m = 0; m < own_.size(); ++m) own_[m] = answers_[m][i].marginals[k];
      const double ahead = timelines_[i].stops[k / features].time - timelines_[i].start;
      marginals_.push_back(to_raw(model_->protocol.standardisation, j,
                                  model_->calibration.calibrated(
                                      j, own_.size() == 1 ? own_.front() : mixture(own_), ahead)));
    }
  return marginals_;
}

}  // namespace edict
