// The noise sweep as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "judge/stress.h"

namespace edict {

// {guard, levels, clean} of the first guard, `guards` with those of each by name, and the settings.
// A point carries the mean of each metric under its name, the deviation as <name>_std, the
// risk–coverage curve as `refusing`, and each seed's own results. Read back, the curves after the
// first are in the order of their names, and all have the first one's eta and sigma.
nlohmann::json to_json(const StressResult& result);
void from_json(const nlohmann::json& json, StressResult& result);

}  // namespace edict
