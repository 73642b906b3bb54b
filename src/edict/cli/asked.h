// What a command is asked about distributions, as it is typed.
#pragma once

#include <string>
#include <vector>

#include "edict/model/model.h"

namespace edict::cli {

// "0.1,0.5,0.9", ascending. Throws Error where one is not between 0 and 1.
std::vector<double> parse_probabilities(const std::string& option, const std::string& text);

// The place of a feature in the model. Throws Error that names the nearest known one.
std::size_t feature_of(const std::string& option, const std::string& name, const Model& model);

// "lactate=4": a probability to be told of one feature.
struct Limit {
  std::size_t feature;
  double value;
  bool above;          // else below
  std::string column;  // P(lactate>4)
};
Limit parse_limit(const std::string& text, bool above, const Model& model);

}  // namespace edict::cli
