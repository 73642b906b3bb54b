// A small model of Synthetic that trains in about a second, for tests of what is done with one.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "learn/trainer.h"
#include "model/model.h"
#include "research/import/synthetic.h"

namespace edict {

inline Config small_synthetic_config() {
  Config config;
  config.data.t_cut = 9.42477796;
  config.data.standardise = false;
  config.model.hidden = 16;
  config.model.head_hidden = 8;
  config.model.encoder_width = 6;
  config.model.step = 0.1;
  config.train.epochs = 25;
  config.train.batch = 16;
  config.train.learning_rate = 0.01;
  config.classify.batch = 16;
  config.classify.learning_rate = 0.01;
  return config;
}

// What was not trained: initial parameters.
inline Model untrained_model(const Dataset& data, const Config& config = small_synthetic_config()) {
  return Model::create(config, data, split(data, config.data));
}

inline const Dataset& small_synthetic() {
  static const Dataset data = generate_synthetic(300, 5);
  return data;
}

inline const Model& small_trained_model() {
  static const Model model = [] {
    Model m = untrained_model(small_synthetic());
    ThreadPool pool(0);
    train(m, small_synthetic(), m.split(small_synthetic()), pool, {});
    return m;
  }();
  return model;
}

// The message of the Error that `action` throws, or "accepted".
template <class Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

inline std::vector<std::size_t> every_series(const Dataset& data) {
  std::vector<std::size_t> all(data.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

}  // namespace edict
