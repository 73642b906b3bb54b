#include "edict/engine/jump_ode_network.h"

#include "edict/core/error.h"
#include "edict/engine/gaussian_head.h"
#include "edict/engine/jump_ode_stream.h"
#include "edict/engine/niw_head.h"
#include "edict/engine/walk.h"

namespace edict {
namespace {

template <class Head>
class JumpOdeWorker final : public Worker {
 public:
  JumpOdeWorker(const JumpOde<Head>& model, std::size_t tape_bytes)
      : model_(model), walk_(model), tape_bytes_(tape_bytes) {}

  LossSums learn(const float* params, std::span<const Example> examples, const LossWeights& weights,
                 float* grads) override {
    if (!model_.classifier || weights.classification <= 0)
      return walk_.train(params, board(examples), weights, tape_bytes_, grads);
    labels_.clear();
    for (const Example& e : examples) labels_.push_back(e.label);
    double cross_entropy = 0;
    LossSums sums = walk_.train(
        params, board(examples), weights, tape_bytes_, grads, [&](const float* h, float* d_h) {
          cross_entropy = model_.classifier->learn(
              params, static_cast<Index>(examples.size()), h, labels_.data(),
              static_cast<float>(weights.classification), scratch_, d_h, grads);
          scratch_.reset();
        });
    sums.classification = cross_entropy;
    return sums;
  }

  LossSums ask(const float* params, std::span<const Example> examples,
               const Asking& asking) override {
    typename Walk<float, Head>::Inference inference{
        {}, asking.on_clip, asking.guard, asking.population_mean, asking.population_deviation};
    if (asking.on_query)
      inference.on_query = [&](std::size_t slot, std::size_t stop, const float* phi,
                               const float* h) {
        marginals_.clear();
        for (Index j = 0; j < model_.features; ++j)
          marginals_.push_back(model_.head.marginal(phi, j));
        asking.on_query(slot, stop, marginals_, {h, static_cast<std::size_t>(model_.hidden)});
      };
    return walk_.infer(params, board(examples), inference);
  }

  void classify(const float* params, std::span<const Example> examples, const Asking& asking,
                float* logits) override {
    if (!model_.classifier)
      throw Error("this model has no classifier; make one with `edict classify`");
    ask(params, examples, asking);
    const auto w = static_cast<Index>(examples.size());
    float* const hidden = scratch_.take(model_.classifier->bottleneck() * w);
    model_.classifier->forward(params, w, walk_.states().data(), hidden, logits);
    scratch_.reset();
  }

 private:
  std::span<const Passenger<float>> board(std::span<const Example> examples) {
    passengers_.clear();
    for (const Example& e : examples) passengers_.push_back({e.agenda, e.absorb_until});
    return passengers_;
  }

  const JumpOde<Head>& model_;
  Walk<float, Head> walk_;
  std::size_t tape_bytes_;
  std::vector<Passenger<float>> passengers_;
  std::vector<Marginal> marginals_;
  std::vector<std::int32_t> labels_;
  Arena<float> scratch_;
};

template <class Head>
class JumpOdeNetwork final : public Network {
 public:
  JumpOdeNetwork(const NetworkSettings& settings, Index features, Index covariates, Index classes)
      : model_(settings, features, covariates, classes),
        tape_bytes_(static_cast<std::size_t>(settings.tape_megabytes) << 20) {}

  const ParameterLayout& layout() const override { return model_.layout; }
  std::unique_ptr<StreamState> stream(const float* params) const override {
    return std::make_unique<JumpOdeStream<Head>>(model_, params);
  }
  Index hidden() const override { return model_.hidden; }
  bool has_distribution() const override { return true; }
  Index classes() const override { return model_.classifier ? model_.classifier->classes() : 0; }
  void widen(std::span<const double> factors, float* params) const override {
    model_.widen(factors, params);
  }
  std::unique_ptr<Worker> worker() const override {
    return std::make_unique<JumpOdeWorker<Head>>(model_, tape_bytes_);
  }

 private:
  JumpOde<Head> model_;
  std::size_t tape_bytes_;
};

template <class Head>
std::unique_ptr<Network> make(const NetworkSettings& settings, Index features, Index covariates,
                              Index classes) {
  return std::make_unique<JumpOdeNetwork<Head>>(settings, features, covariates, classes);
}

}  // namespace

ModelKind edict_kind() { return {NiwHead::kKind, true, {}, make<NiwHead>}; }

ModelKind gru_ode_bayes_kind() { return {GaussianHead::kKind, true, {}, make<GaussianHead>}; }

Error no_distribution(std::string_view kind) {
  return Error(
      fmt::format("{} only tells classes apart and has no distribution to ask for; use {} "
                  "or {}",
                  kind, NiwHead::kKind, GaussianHead::kKind));
}

}  // namespace edict
