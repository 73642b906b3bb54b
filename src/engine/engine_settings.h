// The settings that models on the jump ODE share: [model] and [loss].
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ode/tableau.h"
#include "settings/settings.h"

namespace edict {

// What settings that are times in the model's unit may be.
inline constexpr double kShortestTime = 1e-12, kLongestTime = 1e12;

enum class Propagation { gru_ode, closed_form };
enum class SurpriseScale { epistemic, predictive };
enum class Absorption { raw, bounded, score };
enum class KlForm { niw, gaussian };

struct EngineSettings {
  std::int64_t hidden = 50;
  std::int64_t head_hidden = 25;
  std::int64_t encoder_width = 25;
  Propagation propagator = Propagation::gru_ode;
  Solver solver = Solver::euler;
  double step = 0.05;
  double rtol = 1e-3;
  double atol = 1e-4;
  SurpriseScale surprise = SurpriseScale::epistemic;
  // In the model's unit of time; absent: chosen from the data when a model is made.
  std::optional<double> shortest_timescale, longest_timescale;
  bool recall = false;
  Absorption absorb = Absorption::raw;
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
  KlForm kl_form = KlForm::niw;
  double kl_observation_std = 1.0;
  double evidence = 0.05;
};

template <>
struct settings::Names<Propagation> {
  static constexpr std::pair<Propagation, std::string_view> all[] = {
      {Propagation::gru_ode, "gru-ode"}, {Propagation::closed_form, "closed-form"}};
};
template <>
struct settings::Names<Solver> {
  static constexpr std::pair<Solver, std::string_view> all[] = {{Solver::euler, "euler"},
                                                                {Solver::midpoint, "midpoint"},
                                                                {Solver::rk4, "rk4"},
                                                                {Solver::dopri5, "dopri5"}};
};
template <>
struct settings::Names<SurpriseScale> {
  static constexpr std::pair<SurpriseScale, std::string_view> all[] = {
      {SurpriseScale::epistemic, "epistemic"}, {SurpriseScale::predictive, "predictive"}};
};
template <>
struct settings::Names<Absorption> {
  static constexpr std::pair<Absorption, std::string_view> all[] = {
      {Absorption::raw, "raw"}, {Absorption::bounded, "bounded"}, {Absorption::score, "score"}};
};
template <>
struct settings::Names<KlForm> {
  static constexpr std::pair<KlForm, std::string_view> all[] = {{KlForm::niw, "niw"},
                                                                {KlForm::gaussian, "gaussian"}};
};

void declare(EngineSettings& settings, settings::Keys& keys);
void declare(LossSettings& settings, settings::Keys& keys);

}  // namespace edict
