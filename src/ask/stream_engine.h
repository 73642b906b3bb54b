// Many series as they happen. An engine holds a model, its weights and one thread's scratch; what
// is remembered of a series is a StreamState of a few hundred bytes. Observations and questions are
// served in batches, which costs less than half of one at a time, and gives the same bits.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ask/stream_state.h"
#include "model/model.h"

namespace edict {

class StreamEngine {
 public:
  explicit StreamEngine(std::shared_ptr<const Model> model, const Guard& guard = {});

  const Model& model() const { return *model_; }

  // A state before any observation. `covariates`: raw values of the model's static covariates, NaN
  // where missing; empty: all missing. `start`: where the clock starts, in the data's unit; none:
  // where that of a series does (Protocol::start_of), which may be its first event.
  StreamState begin(std::optional<double> start = {}, std::span<const double> covariates = {});

  // Throws Error for a state that this model cannot go on from.
  void check(const StreamState& state);

  // Values and times are those of the data (not standardised).
  struct Event {
    StreamState* state;
    double time;
    std::span<const Observation> observed;
  };
  // Each state at most once. Throws Error for a state of another model, a time before the state's,
  // an unknown feature, one given twice, or a value that is not finite; then every state is as
  // before.
  void observe(std::span<const Event> events);

  struct Question {
    const StreamState* state;
    double time;  // not before the state's
  };
  // The distribution of every feature, question by question; valid until the next call. States are
  // only read.
  std::span<const Marginal> distribution(std::span<const Question> questions);

 private:
  void check(const StreamState& state, double time) const;
  double time_of(const StreamState& state, double next) const;
  void run(std::span<const StreamState* const> states, const InferenceOptions& options);

  std::shared_ptr<const Model> model_;
  std::uint64_t fingerprint_;
  std::vector<Weights> weights_;  // of each member
  std::unique_ptr<Worker> worker_;
  InferenceOptions absorb_, ask_;
  std::vector<Timeline<float>> timelines_;
  std::vector<Example> examples_;
  std::vector<std::vector<Answer>> answers_;  // of each member
  std::vector<Marginal> marginals_, own_;
  std::vector<const StreamState*> states_, seen_;
};

}  // namespace edict
