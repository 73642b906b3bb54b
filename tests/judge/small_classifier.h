// The small model of Synthetic with classifiers from seeds 0, 1 and 2.
#pragma once

#include "engine/small_model.h"
#include "learn/classifier/classifier_training.h"

namespace edict {

inline const Model& small_classifier() {
  static const Model model = [] {
    ThreadPool pool(2);
    ClassifierOptions options;
    options.settings = small_synthetic_config().classify;
    const Model& frozen = small_trained_model();
    return train_classifier(frozen, small_synthetic(), frozen.split(small_synthetic()), pool,
                            options)
        .model;
  }();
  return model;
}

}  // namespace edict
