// A model without distribution, for tests: its score for class 1 is the sum of what it absorbed,
// after the population clip if that is asked for.
#pragma once

#include "edict/core/error.h"
#include "edict/model/model.h"

namespace edict {

class StreamState;

class CountingWorker final : public Worker {
 public:
  LossSums learn(const float*, std::span<const Example>, const LossWeights&, float*) override {
    return {};
  }
  LossSums ask(const float*, std::span<const Example>, const Asking&) override { return {}; }
  void classify(const float*, std::span<const Example> examples, const Asking& asking,
                float* logits) override {
    for (std::size_t slot = 0; slot < examples.size(); ++slot) {
      const Agenda<float>& agenda = *examples[slot].agenda;
      double sum = 0;
      for (std::size_t s = 0; s < agenda.stops.size(); ++s) {
        const auto& stop = agenda.stops[s];
        if (stop.time >= examples[slot].absorb_until) continue;
        for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k) {
          const auto j = static_cast<std::size_t>(agenda.feature[k]);
          const double raw = static_cast<double>(agenda.value[k]);
          double used = raw;
          if (asking.guard.active())
            used = asking.guard.clip(
                raw, {asking.population_mean.at(j), asking.population_deviation.at(j)});
          if (used != raw && asking.on_clip)
            asking.on_clip(slot, s, agenda.feature[k], raw, used, 0);
          sum += used;
        }
      }
      logits[2 * slot] = 0;
      logits[2 * slot + 1] = static_cast<float>(sum);
    }
  }
};

class CountingNetwork final : public Network {
 public:
  const ParameterLayout& layout() const override { return layout_; }
  std::unique_ptr<Worker> worker() const override { return std::make_unique<CountingWorker>(); }
  std::unique_ptr<StreamState> stream(const float*) const override {
    throw Error("a counting network has no distribution to stream");
  }
  void widen(std::span<const double>, float*) const override {
    throw Error("a counting network has no distribution to widen");
  }
  Index hidden() const override { return 0; }
  bool has_distribution() const override { return false; }
  Index classes() const override { return 2; }

 private:
  ParameterLayout layout_;
};

// For data of two classes.
inline Model counting_model(const Dataset& data) {
  Model model;
  model.features = data.features;
  model.classes = data.classes;
  model.protocol.standardisation = identity_standardisation(data);
  model.protocol.population = model.protocol.standardisation;
  model.protocol.horizon = 100.0;
  model.config.data.start = "zero";
  model.network = std::make_unique<CountingNetwork>();
  return model;
}

}  // namespace edict
