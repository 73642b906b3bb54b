#include "engine/engine_settings.h"

#include <algorithm>

namespace edict {

void declare(EngineSettings& s, settings::Keys& keys) {
  using namespace settings;
  keys.push_back(whole("model.hidden", "size of the state h(t)", s.hidden, 1, 4096));
  keys.push_back(
      whole("model.head_hidden", "hidden units of each head network", s.head_hidden, 1, 4096));
  keys.push_back(whole("model.encoder_width",
                       "encoding width per feature; seft: of its set elements", s.encoder_width, 1,
                       1024));
  keys.push_back(choice("model.propagator",
                        "between observations: the GRU-ODE in steps, or a closed form without any",
                        s.propagator));
  keys.push_back(choice("model.solver", "how dh/dt is integrated", s.solver));
  keys.push_back(number("model.step", "longest step (first step of dopri5), in time units", s.step,
                        kShortestTime, kLongestTime));
  keys.push_back(number("model.rtol", "relative tolerance of dopri5", s.rtol, 1e-14, 1.0));
  keys.push_back(number("model.atol", "absolute tolerance of dopri5", s.atol, 1e-14, 1.0));
  keys.push_back(
      choice("model.surprise", "deviation that scales the encoder's error input", s.surprise));
  keys.push_back(number_or_auto(
      "model.shortest_timescale",
      "shortest time scale a closed form starts with, in time units; auto: from gaps and lengths",
      s.shortest_timescale, kShortestTime, kLongestTime));
  keys.push_back(number_or_auto("model.longest_timescale",
                                "longest time scale a closed form starts with, in time units; "
                                "auto: 5 times the longest series",
                                s.longest_timescale, kShortestTime, kLongestTime));
  keys.push_back(flag("model.recall",
                      "the head mixes its mean with the last value, the less the older that is",
                      s.recall));
  keys.push_back(choice("model.absorb",
                        "how much of an observation enters the state: all, or a bounded error",
                        s.absorb));
  keys.push_back(number("model.absorb_bound",
                        "bounded: deviations that count at most; score: degrees of freedom",
                        s.absorb_bound, 1e-3, 1e6));
}

TimeScales time_scales(const EngineSettings& settings) {
  const double shortest = settings.shortest_timescale.value_or(settings.step);
  return {shortest, std::max(settings.longest_timescale.value_or(100 * shortest), 2 * shortest)};
}

void declare(LossSettings& s, settings::Keys& keys) {
  using namespace settings;
  keys.push_back(number("loss.kl", "weight beta1 of KL(Bayes||post)", s.kl, 0, 1e6));
  keys.push_back(
      choice("loss.kl_form", "conjugate NIW update, or moment-matched Gaussians", s.kl_form));
  keys.push_back(number("loss.kl_observation_std", "observation std inside the Gaussian form",
                        s.kl_observation_std, 1e-6, 1e6));
  keys.push_back(
      number("loss.evidence", "weight beta2 of the evidential regulariser", s.evidence, 0, 1e6));
}

}  // namespace edict
