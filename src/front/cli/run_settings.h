// The settings of a run: those of --config exactly as they stand, or chosen for the data.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "front/cli/command.h"
#include "learn/fit_settings.h"

namespace edict::cli {

struct RunSettings {
  Config config;
  bool chosen = false;             // for the data, rather than read from a file
  std::vector<std::string> lines;  // what was chosen and why, for whoever reads along
};

// `kind`: of --model, empty where it was not given.
RunSettings settings_for(const ConfigOptions& options, const std::string& kind,
                         const Dataset& data);

// A chosen setting or several with one reason, each as a paragraph of at most 80 columns.
std::vector<std::string> described(const FittedSettings& fitted);

}  // namespace edict::cli
