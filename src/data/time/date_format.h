// Dates in a format of strptime that was given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/time/calendar_days.h"
#include "data/time/date_text.h"

namespace edict::dates {

// In the format of `like`.
std::optional<ParsedDate> parse_in_format(std::string_view text, const DateStyle& like);

std::string written_in_format(const Day& day, std::int64_t clock, std::int16_t zone,
                              const DateStyle& style);

}  // namespace edict::dates
