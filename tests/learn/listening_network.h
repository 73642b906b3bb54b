// A model's own network that lets a test see, and spoil, what it learns.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "engine/network.h"
#include "model/model.h"

namespace edict {

// Of each chunk, before its gradient is computed and after.
struct Listener {
  std::function<void(std::span<const Example>, const LossWeights&)> before;
  std::function<void(float* grads)> after;
};

class ListeningWorker final : public Worker {
 public:
  ListeningWorker(std::unique_ptr<Worker> own, const Listener& listener)
      : own_(std::move(own)), listener_(listener) {}

  LossSums learn(const float* params, std::span<const Example> examples, const LossWeights& weights,
                 float* grads) override {
    if (listener_.before) listener_.before(examples, weights);
    const LossSums sums = own_->learn(params, examples, weights, grads);
    if (listener_.after) listener_.after(grads);
    return sums;
  }
  LossSums infer(const Weights& weights, std::span<const Example> examples,
                 const InferenceOptions& options, std::span<Answer> answers) override {
    return own_->infer(weights, examples, options, answers);
  }
  void classify(const Weights& weights, std::span<const Example> examples,
                const InferenceOptions& options, std::span<std::vector<Clipped>> clips,
                float* logits) override {
    own_->classify(weights, examples, options, clips, logits);
  }

 private:
  std::unique_ptr<Worker> own_;
  const Listener& listener_;
};

class ListeningNetwork final : public Network {
 public:
  ListeningNetwork(std::unique_ptr<Network> own, Listener listener)
      : own_(std::move(own)), listener_(std::move(listener)) {}

  const ParameterLayout& layout() const override { return own_->layout(); }
  std::unique_ptr<Worker> worker() const override {
    return std::make_unique<ListeningWorker>(own_->worker(), listener_);
  }
  Weights weights(const float* params) const override { return own_->weights(params); }
  Index hidden() const override { return own_->hidden(); }
  Index state_rows() const override { return own_->state_rows(); }
  bool has_distribution() const override { return own_->has_distribution(); }
  Index classes() const override { return own_->classes(); }
  Index classifier_offset() const override { return own_->classifier_offset(); }

 private:
  std::unique_ptr<Network> own_;
  const Listener listener_;
};

inline void listen(Model& model, Listener listener) {
  model.network = std::make_unique<ListeningNetwork>(std::move(model.network), std::move(listener));
}

}  // namespace edict
