// What the tests of the supervised models share: small configurations and one way to learn.
#pragma once

#include <vector>

#include "baselines/gru_d.h"
#include "baselines/ipn.h"
#include "baselines/seft.h"
#include "baselines/supervised.h"
#include "engine/finite_difference.h"
#include "engine/random_timeline.h"
#include "model/config.h"
#include "model/registry.h"

namespace edict {

template <class Encoder>
Config small_supervised() {
  Config config;
  config.model.kind = Encoder::kKind;
  config.model.hidden = 5;
  config.model.encoder_width = 4;
  assign(config, "model.encoder_layers=2");
  assign(config, "model.heads=2");
  assign(config, "model.time_scales=2");
  assign(config, "model.reference_step=0.2");
  assign(config, "model.layers=2");
  assign(config, "model.dropout=0.3");
  assign(config, "loss.reconstruction=0.8");
  assign(config, "loss.reconstruction_holdout=0.4");
  return config;
}

constexpr Index kFeatures = 3, kCovariates = 2, kClasses = 3;

// Series of the given numbers of events; the examples' labels and keys count up.
template <class S>
struct Batch {
  std::vector<Timeline<S>> timelines;
  std::vector<BasicExample<S>> examples;

  explicit Batch(std::vector<Timeline<S>> given) : timelines(std::move(given)) { number(); }
  Batch(std::uint64_t seed, const std::vector<int>& events) {
    Generator rng(seed);
    for (int n : events) timelines.push_back(random_timeline<S>(rng, kFeatures, n, 0.3, 0.5));
    number();
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

 private:
  void number() {
    for (std::size_t i = 0; i < timelines.size(); ++i)
      examples.push_back({&timelines[i], std::numeric_limits<double>::infinity(),
                          static_cast<std::int32_t>(i) % static_cast<std::int32_t>(kClasses), i});
  }
};

template <class S, class Encoder>
double learn(const Supervised<Encoder>& model, std::span<const BasicExample<S>> examples,
             const Vector<S>& params, Vector<S>& grads, double weight = 0.7) {
  LossWeights weights;
  weights.classification = weight;
  grads = Vector<S>::Zero(params.size());
  SupervisedPass<S, Encoder> pass(model);
  const LossSums sums = pass.learn(params.data(), examples, weights, grads.data());
  return weight * (sums.classification + sums.reconstruction);
}

template <class S, class Encoder>
Matrix<S> classify(const Supervised<Encoder>& model, std::span<const BasicExample<S>> examples,
                   const Vector<S>& params, const InferenceOptions& options = {},
                   std::span<std::vector<Clipped>> clips = {}) {
  Matrix<S> logits(model.classifier.classes(), static_cast<Index>(examples.size()));
  SupervisedPass<S, Encoder>(model).classify(params.data(), examples, options, clips,
                                             logits.data());
  return logits;
}

}  // namespace edict
