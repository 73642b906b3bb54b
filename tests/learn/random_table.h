// Random tables of several shapes, and tiny models of the settings that are chosen for a table.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ask/trajectory.h"
#include "base/generator.h"
#include "learn/fit_settings.h"
#include "learn/trainer.h"

namespace edict {

// Times are multiples of 2⁻¹⁰ below 2¹¹ and values have 20 bits, so that sums with and products by
// powers of two are exact. Every third shape has series that begin at times of their own.
inline Dataset random_table(std::uint64_t shape, std::size_t series = 36) {
  Generator rng(shape, "random table");
  Dataset data;
  const std::size_t features = 1 + shape % 5;
  for (std::size_t j = 0; j < features; ++j) data.features.push_back(fmt::format("x{}", j));
  data.classes = {"no", "yes"};
  const double gap = std::exp(rng.uniform(-2, 2));
  const auto events = 3 + rng.below(10);
  for (std::size_t i = 0; i < series; ++i) {
    const double phase = rng.uniform(0, 6);
    data.add_series(fmt::format("s{}", i), phase > 3 ? 1 : 0);
    double time = shape % 3 == 0 ? std::floor(rng.uniform(0, 400) * gap) : 0;
    const auto own = 1 + rng.below(2 * events);
    for (std::size_t e = 0; e < own; ++e) {
      time += std::ceil(gap * rng.uniform(0.1, 2) * 1024) / 1024;
      data.add_event(time);
      const auto always = rng.below(features);
      for (std::size_t j = 0; j < features; ++j)
        if (j == always || rng.uniform() < 0.5) {
          const double value = std::sin(time / gap / 3 + phase + static_cast<double>(j));
          data.add_observation(static_cast<std::int32_t>(j),
                               std::round((value + 0.2 * rng.normal()) * 65536) / 65536);
        }
    }
  }
  return data;
}

// Whose every feature is mapped by x ↦ factor · x + offset.
inline Dataset in_other_unit(Dataset data, double factor, double offset) {
  for (double& value : data.value.edit()) value = factor * value + offset;
  return data;
}

inline Dataset at_other_times(Dataset data, double factor, double offset) {
  for (double& time : data.times.edit()) time = factor * time + offset;
  return data;
}

inline FittedSettings tiny_settings(const Dataset& data, std::vector<std::string> given = {}) {
  given.insert(given.end(), {"model.hidden=6", "model.head_hidden=4", "model.encoder_width=3",
                             "train.epochs=3", "data.validation=0.25", "data.train=0.5"});
  return fit_settings(data, given);
}

inline Model tiny_model(const Dataset& data, const std::vector<std::string>& given = {}) {
  const Config config = tiny_settings(data, given).config;
  const Split parts = split(data, config.data);
  Model model = Model::create(config, data, parts);
  ThreadPool pool(1);
  train(model, data, parts, pool, {});
  return model;
}

// Settings beyond the default that read times or values in ways of their own.
inline const std::vector<std::vector<std::string>>& model_variants() {
  static const std::vector<std::vector<std::string>> variants = {
      {},
      {"model.kind=gru-ode-bayes"},
      {"model.propagator=closed-form"},
      {"model.propagator=gru-ode", "model.recall=true"},
      {"model.absorb=bounded"},
  };
  return variants;
}

}  // namespace edict
