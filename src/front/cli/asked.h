// What a command is asked about distributions, as it is typed.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace edict::cli {

// "0.1,0.5,0.9", ascending. Throws Error where one is not between 0 and 1.
std::vector<double> parse_probabilities(const std::string& option, const std::string& text);

// The place of a name that a person gives among those there are: as it is written, or in another
// case where that is one name alone, which a note says. `what`: "feature". Throws Error that begins
// with `where` and suggests a name.
std::size_t place_of(const std::string& where, const std::string& what, const std::string& name,
                     const std::vector<std::string>& known);

// The place of a feature in the model.
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
