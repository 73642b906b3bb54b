#include "engine/jump_ode_network.h"

#include <fmt/core.h>

#include "base/error.h"
#include "engine/heads/gaussian_head.h"
#include "engine/heads/niw_head.h"
#include "engine/inference.h"
#include "engine/training_pass.h"

namespace edict {
namespace {

template <Head H>
class JumpOdeWorker final : public Worker {
 public:
  JumpOdeWorker(const JumpOde<H>& network, std::size_t tape_bytes)
      : network_(network), pass_(network), inference_(network), tape_bytes_(tape_bytes) {}

  LossSums learn(const float* params, std::span<const Example> examples, const LossWeights& weights,
                 float* grads) override {
    if (!network_.classifier || weights.classification <= 0)
      return pass_.train(params, examples, weights, tape_bytes_, grads);
    labels_.clear();
    for (const Example& e : examples) labels_.push_back(e.label);
    double cross_entropy = 0;
    LossSums sums =
        pass_.train(params, examples, weights, tape_bytes_, grads, [&](const float* h, float* d_h) {
          cross_entropy = network_.classifier->learn(
              params, static_cast<Index>(examples.size()), h, labels_.data(),
              static_cast<float>(weights.classification), scratch_, d_h, grads);
          scratch_.reset();
        });
    sums.classification = cross_entropy;
    return sums;
  }

  LossSums infer(const Weights& weights, std::span<const Example> examples,
                 const InferenceOptions& options, std::span<Answer> answers) override {
    return inference_.run({weights.transposed.data()}, examples, options, answers);
  }

  void classify(const Weights& weights, std::span<const Example> examples,
                const InferenceOptions& options, std::span<std::vector<Clipped>> clips,
                float* logits) override {
    if (!network_.classifier)
      throw Error("this model has no classifier; make one with `edict classify`");
    InferenceOptions own = options;
    own.marginals = InferenceOptions::Marginals::none;
    own.states = own.final_states = true;
    if (answers_.size() < examples.size()) answers_.resize(examples.size());
    infer(weights, examples, own, {answers_.data(), examples.size()});
    const auto w = static_cast<Index>(examples.size());
    float* const h = scratch_.take(network_.hidden * w);
    float* const inner = scratch_.take(network_.classifier->bottleneck() * w);
    for (Index i = 0; i < w; ++i) {
      const Answer& answer = answers_[static_cast<std::size_t>(i)];
      const auto& at_end = answer.states.empty() ? answer.final_state : answer.states;
      const auto from = answer.states.empty() ? at_end.begin() : at_end.end() - network_.hidden;
      std::copy_n(from, network_.hidden, h + i * network_.hidden);
      if (!clips.empty()) clips[static_cast<std::size_t>(i)] = answer.clips;
    }
    network_.classifier->forward(weights.params, w, h, inner, logits);
    scratch_.reset();
  }

 private:
  const JumpOde<H>& network_;
  TrainingPass<float, H> pass_;
  Inference<float, H> inference_;
  std::size_t tape_bytes_;
  std::vector<Answer> answers_;
  std::vector<std::int32_t> labels_;
  Arena<float> scratch_;
};

template <Head H>
class JumpOdeNetwork final : public Network {
 public:
  JumpOdeNetwork(const NetworkSettings& settings, Index features, Index covariates, Index classes)
      : network_(settings, features, covariates, classes),
        tape_bytes_(static_cast<std::size_t>(settings.tape_megabytes) << 20) {}

  const ParameterLayout& layout() const override { return network_.layout; }
  Weights weights(const float* params) const override {
    Weights weights{params, {}};
    network_.transpose(params, weights.transposed);
    return weights;
  }
  Index hidden() const override { return network_.hidden; }
  Index state_rows() const override { return network_.state_rows(); }
  bool has_distribution() const override { return true; }
  Index classes() const override {
    return network_.classifier ? network_.classifier->classes() : 0;
  }
  Index classifier_offset() const override { return network_.classifier_offset; }
  std::unique_ptr<Worker> worker() const override {
    return std::make_unique<JumpOdeWorker<H>>(network_, tape_bytes_);
  }

 private:
  JumpOde<H> network_;
  std::size_t tape_bytes_;
};

template <Head H>
std::unique_ptr<Network> make(const NetworkSettings& settings, Index features, Index covariates,
                              Index classes) {
  return std::make_unique<JumpOdeNetwork<H>>(settings, features, covariates, classes);
}

}  // namespace

ModelKind edict_kind() { return {NiwHead::kKind, true, {}, make<NiwHead>}; }

ModelKind gru_ode_bayes_kind() { return {GaussianHead::kKind, true, {}, make<GaussianHead>}; }

Error no_distribution(std::string_view kind) {
  return Error(
      fmt::format("{} only classifies and predicts no distribution; use {} "
                  "or {}",
                  kind, NiwHead::kKind, GaussianHead::kKind));
}

}  // namespace edict
