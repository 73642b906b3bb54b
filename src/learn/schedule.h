// The learning rate over the steps of a run: a linear rise over the warm-up, then constant, falling
// with the square root of the steps, or half a cosine down to zero. Warm-up and cosine are shares
// of the whole run; the square root knows no end, and neither does its warm-up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "model/config.h"

namespace edict {

// Whether the rate at a step depends on how many epochs there are. Such a run cannot be made longer
// afterwards: its rate has come down already and would jump up again.
inline bool depends_on_epochs(const TrainSettings& config) {
  return config.schedule == Schedule::cosine ||
         (config.schedule == Schedule::constant && config.warmup > 0);
}

inline double learning_rate(const TrainSettings& config, std::int64_t step, std::int64_t total) {
  if (config.schedule == Schedule::square_root) {
    constexpr double kWarmup = 50, kLevel = 500;  // steps
    const auto done = static_cast<double>(step);
    return config.learning_rate * std::min(1.0, (done + 1) / kWarmup) /
           std::sqrt(1.0 + std::max(0.0, done - kLevel) / kLevel);
  }
  const double progress = static_cast<double>(step) / static_cast<double>(total);
  if (config.warmup > 0 && progress < config.warmup)
    return config.learning_rate * (static_cast<double>(step) + 1) /
           (config.warmup * static_cast<double>(total) + 1);
  if (config.schedule == Schedule::constant) return config.learning_rate;
  const double after = (progress - config.warmup) / (1.0 - config.warmup);
  return config.learning_rate * 0.5 * (1.0 + std::cos(std::numbers::pi * after));
}

}  // namespace edict
