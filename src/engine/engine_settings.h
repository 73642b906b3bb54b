// The settings that models on the jump ODE share: [model] and [loss].
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "settings/settings.h"

namespace edict {

// What settings that are times in the model's unit may be.
inline constexpr double kShortestTime = 1e-12, kLongestTime = 1e12;

struct EngineSettings {
  std::int64_t hidden = 50;
  std::int64_t head_hidden = 25;
  std::int64_t encoder_width = 25;
  std::string propagator = "gru-ode";
  std::string solver = "euler";
  double step = 0.05;
  double rtol = 1e-3;
  double atol = 1e-4;
  std::string surprise = "epistemic";
  // In the model's unit of time; absent: chosen from the data when a model is made.
  std::optional<double> shortest_timescale, longest_timescale;
  bool recall = false;
  std::string absorb = "raw";
  double absorb_bound = 3.0;
  // Not settings, but found in the training data (protocol/resolution.h) and kept in the model's
  // file. Empty: unknown.
  std::vector<double> least_scale = {};  // of each feature, in the model's units
  // Features of which nothing is learnt: recall answers by their last value, or by their mean.
  std::vector<std::size_t> unchanging = {}, sporadic = {};
};

inline bool is_unlearnt(const EngineSettings& settings, std::size_t feature) {
  const auto is_in = [&](const std::vector<std::size_t>& list) {
    return std::find(list.begin(), list.end(), feature) != list.end();
  };
  return is_in(settings.unchanging) || is_in(settings.sporadic);
}

// The range of time scales that a network is prepared for, shortest < longest.
struct TimeScales {
  double shortest, longest;
};
TimeScales time_scales(const EngineSettings& settings);

struct LossSettings {
  double kl = 1e-3;
  std::string kl_form = "niw";
  double kl_observation_std = 1.0;
  double evidence = 0.05;
};

void declare(EngineSettings& settings, settings::Keys& keys);
void declare(LossSettings& settings, settings::Keys& keys);

}  // namespace edict
