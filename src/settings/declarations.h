// What may be set, for programs that make forms or keywords of it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "settings/settings.h"

namespace edict::settings {

// An object: key, type ("number", "whole number", "flag", "choice"), allowed and meaning in words,
// default (the present value); low, high and may_be_auto of numbers, choices of texts.
nlohmann::json declaration(const Key& key);

}  // namespace edict::settings
