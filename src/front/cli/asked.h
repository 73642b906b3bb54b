// Names, probabilities and limits as they are typed.
#pragma once

#include <string>
#include <vector>

#include "app/predict/predict.h"
#include "model/model.h"

namespace edict::cli {

// "0.1,0.5,0.9", ascending. Throws Error where one is not between 0 and 1.
std::vector<double> parse_probabilities(const std::string& option, const std::string& text);

// The place of a feature in the model; a note about the name is printed. `option`: "features".
std::size_t feature_of(const std::string& option, const std::string& name, const Model& model);

// "lactate=4"
Limit parse_limit(const std::string& text, bool above, const Model& model);

}  // namespace edict::cli
