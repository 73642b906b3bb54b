// A model without distribution, for tests: its score for class 1 is the sum of what it absorbed,
// after the population clip if that is asked for.
#pragma once

#include "base/error.h"
#include "model/model.h"

namespace edict {

class CountingWorker final : public Worker {
 public:
  LossSums learn(const float*, std::span<const Example>, const LossWeights&, float*) override {
    return {};
  }
  LossSums infer(const Weights&, std::span<const Example>, const InferenceOptions&,
                 std::span<Answer>) override {
    return {};
  }
  void classify(const Weights&, std::span<const Example> examples, const InferenceOptions& options,
                std::span<std::vector<Clipped>> clips, float* logits) override {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const Timeline<float>& timeline = *examples[i].timeline;
      double sum = 0;
      for (std::size_t s = 0; s < timeline.stops.size(); ++s) {
        const auto& stop = timeline.stops[s];
        if (stop.time >= examples[i].absorb_until) continue;
        for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
          sum += static_cast<double>(guarded(
              options.guard, options.population, timeline.feature[k], timeline.value[k],
              [] { return Marginal{}; }, s, clips.empty() ? nullptr : &clips[i]));
      }
      logits[2 * i] = 0;
      logits[2 * i + 1] = static_cast<float>(sum);
    }
  }
};

class CountingNetwork final : public Network {
 public:
  const ParameterLayout& layout() const override { return layout_; }
  std::unique_ptr<Worker> worker() const override { return std::make_unique<CountingWorker>(); }
  Weights weights(const float* params) const override { return {params, {}}; }
  Index hidden() const override { return 0; }
  bool has_distribution() const override { return false; }
  Index classes() const override { return 2; }
  Index classifier_offset() const override { return 0; }

 private:
  ParameterLayout layout_;
};

// For data of two classes.
inline Model counting_model(const Dataset& data) {
  Model model;
  model.features = data.features;
  model.classes = data.classes;
  model.protocol.standardisation.mean.assign(data.features.size(), 0.0);
  model.protocol.standardisation.scale.assign(data.features.size(), 1.0);
  model.protocol.population = model.protocol.standardisation;
  model.protocol.horizon = 100.0;
  model.config.data.start = ClockStart::zero;
  model.network = std::make_unique<CountingNetwork>();
  return model;
}

}  // namespace edict
