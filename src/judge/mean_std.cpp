#include "judge/mean_std.h"

#include "base/json/json.h"

namespace edict {

nlohmann::json to_json(const MeanStd& value) { return {{"mean", value.mean}, {"std", value.std}}; }

void from_json(const nlohmann::json& json, MeanStd& value) {
  json.at("mean").get_to(value.mean);
  json.at("std").get_to(value.std);
}

}  // namespace edict
