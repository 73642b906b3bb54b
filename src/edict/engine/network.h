// What the trainer and the evaluation know of a model: its parameters' layout, and workers that
// compute. A network is const after construction; a worker is one thread's scratch.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "edict/core/error.h"
#include "edict/engine/engine_settings.h"
#include "edict/engine/guard.h"
#include "edict/engine/marginal.h"
#include "edict/nn/parameters.h"
#include "edict/protocol/agenda.h"

namespace edict {

template <class S>
struct BasicExample {
  const Agenda<S>* agenda;
  double absorb_until = std::numeric_limits<double>::infinity();
  std::int32_t label = -1;        // for supervised losses
  std::uint64_t dropout_key = 0;  // seeds this example's dropout masks
};
using Example = BasicExample<float>;

// Told of a stop marked as a query: the distribution of every feature just before the stop, and h.
using MarginalListener =
    std::function<void(std::size_t slot, std::size_t stop, std::span<const Marginal> features,
                       std::span<const float> h)>;

// Told of every observation that a guard changed: raw and used, in the model's units.
using ClipListener = std::function<void(std::size_t slot, std::size_t stop, std::int32_t feature,
                                        double raw, double used, double sigmas)>;

struct LossWeights {
  double scale = 1.0;  // of everything, usually one over the number of observations in the batch
  double kl = 0.0;     // 0 also spares the head after the jump
  double evidence = 0.0;
  double classification = 0.0;  // of the cross-entropy of one series
};

struct Asking {
  MarginalListener on_query;
  ClipListener on_clip;
  Guard guard;
  std::vector<double> population_mean, population_deviation;  // in the model's units; empty: 0, 1
};

class Worker {
 public:
  virtual ~Worker() = default;

  // Forward and backward; gradients are added to `grads`.
  virtual LossSums learn(const float* params, std::span<const Example> examples,
                         const LossWeights& weights, float* grads) = 0;

  // Walks the examples without learning; the losses of scored stops come back.
  virtual LossSums ask(const float* params, std::span<const Example> examples,
                       const Asking& asking) = 0;

  // Class scores before the softmax, classes × examples.
  virtual void classify(const float* params, std::span<const Example> examples,
                        const Asking& asking, float* logits) = 0;
};

class StreamState;

class Network {
 public:
  virtual ~Network() = default;
  virtual const ParameterLayout& layout() const = 0;
  virtual std::unique_ptr<Worker> worker() const = 0;
  // One series as it happens (models/stream.h). Error for a model without a distribution.
  virtual std::unique_ptr<StreamState> stream(const float* params) const = 0;
  virtual Index hidden() const = 0;
  // Only some models can be asked for a distribution; Worker::ask of the others throws Error.
  virtual bool has_distribution() const = 0;
  virtual Index classes() const = 0;  // 0: it does not classify
  // Multiplies the predictive scale of each feature, and changes nothing else. Error for a model
  // without a distribution.
  virtual void widen(std::span<const double> factors, float* params) const = 0;
};

// What a network is built from.
struct NetworkSettings {
  EngineSettings model;
  LossSettings loss;
  settings::Values own;  // of the kind itself
  std::int64_t classifier_layers = 1;
  std::int64_t tape_megabytes = 512;
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
