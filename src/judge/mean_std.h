// A mean and the standard deviation (of the population) around it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace edict {

struct MeanStd {
  double mean, std;
};

nlohmann::json to_json(const MeanStd& value);
void from_json(const nlohmann::json& json, MeanStd& value);

}  // namespace edict
