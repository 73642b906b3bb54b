// With which settings, and from which data, a model is trained.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/fit_settings.h"

namespace edict::app {

struct SettingsRequest {
  std::optional<Config> base = {};            // of a file; none: those that fit the data
  std::vector<std::string> assignments = {};  // "train.epochs=30", which hold before both
};

// Throws Error for settings that are wrong whatever the data are.
void check(const SettingsRequest& request);

struct ChosenSettings {
  Config config;
  std::optional<FittedSettings> fitted;  // with reasons, where the data decided
};

ChosenSettings choose_settings(const SettingsRequest& request, const Dataset& data);

// Whether an assignment sets this key.
bool assigns(const std::vector<std::string>& assignments, std::string_view key);

struct CutData {
  Dataset data;
  std::string note;  // what was cut, in a sentence
};

// A few long series are trained on in pieces; the last ones are the test split. Nothing where
// the data can be split by series.
std::optional<CutData> cut_long_series(const Dataset& data);

}  // namespace edict::app
