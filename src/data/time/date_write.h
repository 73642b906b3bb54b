#pragma once

#include <cstdint>
#include <string>

#include "data/time/date_text.h"

namespace edict::dates {

// Z, UTC or hours and minutes from it, as the style has it; empty where it has none.
std::string written_zone(std::int16_t zone, const DateStyle& style);

}  // namespace edict::dates
