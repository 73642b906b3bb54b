// What a dataset holds, as JSON: the same for info, generate and import.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "data/dataset.h"

namespace edict::cli {

nlohmann::json data_json(const std::string& path, const Dataset& data);

}  // namespace edict::cli
