#include "edict/models/network.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "edict/core/error.h"
#include "edict/models/gaussian_head.h"
#include "edict/models/gru_d.h"
#include "edict/models/ipn.h"
#include "edict/models/jump_ode_stream.h"
#include "edict/models/niw_head.h"
#include "edict/models/seft.h"
#include "edict/models/supervised.h"

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
  JumpOdeNetwork(const Config& config, Index features, Index covariates, Index classes)
      : model_(config, features, covariates, classes),
        tape_bytes_(static_cast<std::size_t>(config.train.tape_megabytes) << 20) {}

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
std::unique_ptr<Network> make_jump_ode(const Config& config, Index features, Index covariates,
                                       Index classes) {
  return std::make_unique<JumpOdeNetwork<Head>>(config, features, covariates, classes);
}

template <class Encoder>
std::unique_ptr<Network> make_supervised(const Config& config, Index features, Index covariates,
                                         Index classes) {
  return std::make_unique<SupervisedNetwork<Encoder>>(config, features, covariates, classes);
}

// A new model is a line here, its name in kModelKinds, and its own file.
struct Registration {
  std::string_view kind;
  bool has_distribution;
  std::unique_ptr<Network> (*make)(const Config&, Index features, Index covariates, Index classes);
};
constexpr Registration kModels[] = {
    {NiwHead::kKind, true, make_jump_ode<NiwHead>},
    {GaussianHead::kKind, true, make_jump_ode<GaussianHead>},
    {GruD::kKind, false, make_supervised<GruD>},
    {Ipn::kKind, false, make_supervised<Ipn>},
    {Seft::kKind, false, make_supervised<Seft>},
};
static_assert(std::ranges::equal(kModels, kModelKinds, {}, &Registration::kind),
              "the models here and the kinds in config.h differ");

}  // namespace

std::unique_ptr<Network> make_network(const Config& config, Index features, Index covariates,
                                      Index classes) {
  const std::string& kind = config.model.kind;
  const auto model = std::ranges::find(kModels, kind, &Registration::kind);
  if (model == std::end(kModels)) throw Error("unknown model.kind '" + kind + "'");
  if (classes == 0 && !model->has_distribution)
    throw Error(fmt::format("{} only tells classes apart; give it data with a label column", kind));
  return model->make(config, features, covariates, classes);
}

Error no_distribution(std::string_view kind) {
  std::string others;
  for (const Registration& model : kModels)
    if (model.has_distribution) others += (others.empty() ? "" : " or ") + std::string(model.kind);
  return Error(fmt::format("{} only tells classes apart and has no distribution to ask for; use {}",
                           kind, others));
}

}  // namespace edict
