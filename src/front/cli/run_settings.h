// The settings that were chosen for the data of a run, in lines.
#pragma once

#include <string>
#include <vector>

#include "learn/fit_settings.h"

namespace edict::cli {

// A chosen setting or several with one reason, each as a paragraph of at most 80 columns, and what
// in the data deserves a word.
std::vector<std::string> choice_lines(const FittedSettings& fitted);

}  // namespace edict::cli
