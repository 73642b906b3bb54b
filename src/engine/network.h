// What the trainer and the evaluation know of a model: its parameters' layout, and workers that
// compute. A network is const after construction; a worker is one thread's scratch.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/threads/interrupted.h"
#include "base/types.h"
#include "engine/engine_settings.h"
#include "engine/heads/marginal.h"
#include "engine/jump/guard.h"
#include "nn/parameters.h"
#include "protocol/timeline.h"

namespace edict {

// One series in a batch, as a worker takes it.
template <class S>
struct BasicExample {
  const Timeline<S>* timeline;
  // Stops at or after this time are scored but not absorbed.
  double absorb_until = std::numeric_limits<double>::infinity();
  std::int32_t label = -1;        // for supervised losses
  std::uint64_t dropout_key = 0;  // seeds this example's dropout masks
  // What is known at the timeline's start (Network::state_rows() numbers, h first; of an ensemble,
  // the members' follow); null: h from the covariates, and nothing remembered.
  const S* state = nullptr;
  double dt = 0.0;  // the adaptive solver's step there; 0: model.step
};
using Example = BasicExample<float>;

struct LossWeights {
  double scale = 1.0;  // of everything, usually one over the number of observations in the batch
  double kl = 0.0;     // 0 also spares the head after the jump
  double evidence = 0.0;
  double classification = 0.0;  // of the cross-entropy of one series
  StopFlag stop = nullptr;      // looked at often; Interrupted when it is set
};

struct InferenceOptions {
  enum class Marginals { none, observed, all };

  Guard guard;
  Population population;                 // what the population guard holds observations against
  Marginals marginals = Marginals::all;  // of every feature, or of a query's own observations
  bool crps = false;                     // of scored stops, beside their losses
  bool states = false;                   // h at every query
  bool final_states = false;             // what is known after everything was absorbed
  StopFlag stop = nullptr;
};

// What was asked of one example, in the order of its timeline's stops and in the model's units.
struct Answer {
  std::vector<Marginal> marginals;  // of a query: features in their order, or its observations
  std::vector<float> states;        // H × queries
  std::vector<Clipped> clips;
  std::vector<float> final_state;  // Network::state_rows() numbers, h first
  double final_dt = 0.0;           // of an adaptive solver
};

// visit(place, query, feature, marginal) for every marginal of an answer to `asked`, in order.
template <class Visit>
void each_marginal(const Timeline<float>& timeline, InferenceOptions::Marginals asked,
                   std::size_t features, Answer& answer, const Visit& visit) {
  std::size_t next = 0, query = 0;
  for (const auto& stop : timeline.stops) {
    if (!(stop.what & Timeline<float>::kQuery) || next == answer.marginals.size()) continue;
    const bool all = asked == InferenceOptions::Marginals::all;
    const std::size_t count = all ? features : stop.count;
    for (std::size_t k = 0; k < count; ++k, ++next)
      visit(next, query, all ? k : static_cast<std::size_t>(timeline.feature[stop.first + k]),
            answer.marginals[next]);
    ++query;
  }
}

// Parameters made ready for forward passes, once for many of them and for every thread.
struct Weights {
  const float* params;
  Vector<float> transposed;  // each weight matrix in its place; empty where a model needs none
};

class Worker {
 public:
  virtual ~Worker() = default;

  // Forward and backward; gradients are added to `grads`.
  virtual LossSums learn(const float* params, std::span<const Example> examples,
                         const LossWeights& weights, float* grads) = 0;

  // Forward only: fills `answers`, one an example, or none if only the losses of scored stops are
  // wanted, which come back.
  virtual LossSums infer(const Weights& weights, std::span<const Example> examples,
                         const InferenceOptions& options, std::span<Answer> answers) = 0;

  // Class scores before the softmax, classes × examples, from h at the last query of each timeline
  // (or after its last observation, if it has none). `clips`, one an example, tells what the guard
  // changed; it may be empty.
  virtual void classify(const Weights& weights, std::span<const Example> examples,
                        const InferenceOptions& options, std::span<std::vector<Clipped>> clips,
                        float* logits) = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  virtual const ParameterLayout& layout() const = 0;
  virtual std::unique_ptr<Worker> worker() const = 0;
  // `params` must outlive the result.
  virtual Weights weights(const float* params) const = 0;
  virtual Index hidden() const = 0;
  // Of everything that is known of a series between two events; h are the first of them.
  virtual Index state_rows() const { return hidden(); }
  // Only some models can be asked for a distribution; Worker::infer of the others throws Error.
  virtual bool has_distribution() const = 0;
  virtual Index classes() const = 0;  // 0: it does not classify
  // Where the parameters of the classifier on h(T) begin, which come last.
  virtual Index classifier_offset() const = 0;
};

// What a network is built from.
struct NetworkSettings {
  EngineSettings model;
  LossSettings loss;
  settings::Values own;  // of the kind itself
  std::int64_t classifier_layers = 1;
  std::int64_t tape_megabytes = 512;
  std::vector<std::string> feature_names = {};  // for messages, as is the unit of time
  double time_unit = 1.0;
  double time_origin = 0.0;
};

// A kind of model, as its own file describes it to the registry (model/registry.h).
struct ModelKind {
  std::string_view name;  // model.kind
  bool has_distribution;
  std::vector<settings::Own> settings;  // that it alone has
  std::unique_ptr<Network> (*make)(const NetworkSettings&, Index features, Index covariates,
                                   Index classes);
};

// What to throw where a kind is asked for a distribution that it does not have.
Error no_distribution(std::string_view kind);

}  // namespace edict
