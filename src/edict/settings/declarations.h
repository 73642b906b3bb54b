// What may be set, for programs that make forms or keywords of it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "edict/settings/settings.h"

namespace edict::settings {

// A list of objects: key, type ("number", "whole", "flag", "text"), default (the present value),
// help; low and high of numbers, choices of texts, and auto where a number may be "auto".
nlohmann::json declarations(const Keys& keys);

}  // namespace edict::settings
