// The settings that models on the jump ODE share: [model] and [loss].
#pragma once

#include <cstdint>
#include <string>

#include "edict/settings/settings.h"

namespace edict {

struct EngineSettings {
  std::int64_t hidden = 50;
  std::int64_t head_hidden = 25;
  std::int64_t encoder_width = 25;
  std::string solver = "euler";
  double step = 0.05;
  double rtol = 1e-3;
  double atol = 1e-4;
  std::string surprise = "epistemic";
};

struct LossSettings {
  double kl = 1e-3;
  std::string kl_form = "niw";
  double kl_observation_std = 1.0;
  double evidence = 0.05;
};

void declare(EngineSettings& settings, settings::Keys& keys);
void declare(LossSettings& settings, settings::Keys& keys);

}  // namespace edict
