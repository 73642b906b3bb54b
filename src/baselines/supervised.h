// A model that only tells classes apart: an encoder turns each series into one vector, a classifier
// reads it (with the covariates appended, unless the encoder has taken them in), and the
// cross-entropy teaches both. An encoder is all that a new model has to write:
//
//   struct Encoder {
//     static constexpr const char* kKind;          // its name in the configuration
//     static constexpr bool kTakesCovariates;      // false: they go to the classifier
//     Encoder(ParameterLayout&, const NetworkSettings&, Index features, Index covariates);
//     Index width() const;                         // of the vector
//     Dropout dropout() const;                     // while learning
//     template <class S> using Pass = …;           // forward, backward, and perhaps reconstruct
//   };
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "baselines/intake.h"
#include "engine/network.h"
#include "nn/classifier.h"
#include "nn/dropout.h"

namespace edict {

// The share of the units left out while training, which all of them have.
inline const settings::Own kDropout{"model.dropout",
                                    "share of the units left out while training (gru-d, ipn, seft)",
                                    settings::Key::Kind::number,
                                    0.2,
                                    0,
                                    0.9};

template <class Encoder>
struct Supervised {
  Supervised(const NetworkSettings& settings, Index feature_count, Index covariate_count,
             Index class_count)
      : features(feature_count),
        covariates(covariate_count),
        encoder(layout, settings, features, covariates),
        classifier_offset(layout.size()),
        classifier(layout, "classifier", encoder.width() + appended(), class_count,
                   static_cast<int>(settings.classifier_layers)) {}

  Index appended() const { return Encoder::kTakesCovariates ? 0 : covariates; }

  Index features, covariates;
  ParameterLayout layout;
  Encoder encoder;
  Index classifier_offset;
  Classifier classifier;
};

template <class S, class Encoder>
class SupervisedPass {
 public:
  explicit SupervisedPass(const Supervised<Encoder>& model) : model_(model), pass_(model.encoder) {}

  // Gradients are added. The loss is weights.classification × (cross-entropy + what the encoder
  // itself wants reconstructed), summed over the series.
  LossSums learn(const S* params, std::span<const BasicExample<S>> examples,
                 const LossWeights& weights, S* grads) {
    leave_if_stopped(weights.stop);
    intake_.take(examples, model_.covariates);
    const auto weight = static_cast<S>(weights.classification);
    const Index n = intake_.series(), width = model_.encoder.width(), rows = width + appended();
    S* const state = encode(params, model_.encoder.dropout());
    S* const d_state = arena_.take(rows * n);
    LossSums sums;
    sums.classification = model_.classifier.learn(params, n, state, intake_.label.data(), weight,
                                                  arena_, d_state, grads);
    S* const d_encoding = arena_.take(width * n);
    for (Index s = 0; s < n; ++s) std::copy_n(d_state + s * rows, width, d_encoding + s * width);
    pass_.backward(params, intake_, d_encoding, arena_, grads);
    if constexpr (requires { pass_.reconstruct(params, intake_, weight, arena_, grads, sums); })
      pass_.reconstruct(params, intake_, weight, arena_, grads, sums);
    sums.series = static_cast<double>(n);
    arena_.reset();
    return sums;
  }

  // Dropout is off. logits: classes × examples.
  void classify(const S* params, std::span<const BasicExample<S>> examples,
                const InferenceOptions& options, std::span<std::vector<Clipped>> clips, S* logits) {
    leave_if_stopped(options.stop);
    intake_.take(examples, model_.covariates, options, clips, Encoder::kKind);
    S* const state = encode(params, Dropout::off());
    S* const hidden = arena_.take(model_.classifier.bottleneck() * intake_.series());
    model_.classifier.forward(params, intake_.series(), state, hidden, logits);
    arena_.reset();
  }

 private:
  Index appended() const { return model_.appended(); }

  S* encode(const S* params, const Dropout& dropout) {
    const Index n = intake_.series(), width = model_.encoder.width(), rows = width + appended();
    S* const encoding = arena_.take(width * n);
    S* const state = arena_.take(rows * n);
    pass_.forward(params, intake_, dropout, arena_, encoding);
    for (Index s = 0; s < n; ++s) {
      std::copy_n(encoding + s * width, width, state + s * rows);
      std::copy_n(intake_.covariates.data() + s * model_.covariates, appended(),
                  state + s * rows + width);
    }
    return state;
  }

  const Supervised<Encoder>& model_;
  typename Encoder::template Pass<S> pass_;
  Intake<S> intake_;
  Arena<S> arena_;
};

template <class Encoder>
class SupervisedWorker final : public Worker {
 public:
  explicit SupervisedWorker(const Supervised<Encoder>& model) : pass_(model) {}

  LossSums learn(const float* params, std::span<const Example> examples, const LossWeights& weights,
                 float* grads) override {
    return pass_.learn(params, examples, weights, grads);
  }
  LossSums infer(const Weights&, std::span<const Example>, const InferenceOptions&,
                 std::span<Answer>) override {
    throw no_distribution(Encoder::kKind);
  }
  void classify(const Weights& weights, std::span<const Example> examples,
                const InferenceOptions& options, std::span<std::vector<Clipped>> clips,
                float* logits) override {
    pass_.classify(weights.params, examples, options, clips, logits);
  }

 private:
  SupervisedPass<float, Encoder> pass_;
};

template <class Encoder>
class SupervisedNetwork final : public Network {
 public:
  SupervisedNetwork(const NetworkSettings& settings, Index features, Index covariates,
                    Index classes)
      : model_(settings, features, covariates, classes) {}

  const ParameterLayout& layout() const override { return model_.layout; }
  Index hidden() const override { return model_.encoder.width(); }
  bool has_distribution() const override { return false; }
  Index classes() const override { return model_.classifier.classes(); }
  Index classifier_offset() const override { return model_.classifier_offset; }
  std::unique_ptr<Worker> worker() const override {
    return std::make_unique<SupervisedWorker<Encoder>>(model_);
  }
  Weights weights(const float* params) const override { return {params, {}}; }

 private:
  Supervised<Encoder> model_;
};

// How the registry sees a model of this kind; `settings` are those that it alone has.
template <class Encoder>
ModelKind supervised_kind(std::vector<settings::Own> settings) {
  settings.insert(settings.begin(), kDropout);
  return {Encoder::kKind, false, std::move(settings),
          [](const NetworkSettings& s, Index features, Index covariates,
             Index classes) -> std::unique_ptr<Network> {
            return std::make_unique<SupervisedNetwork<Encoder>>(s, features, covariates, classes);
          }};
}

}  // namespace edict
