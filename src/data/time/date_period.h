// Dates without a day: 2020-01, Jan 2020, 01/2020, 2020Q1 and 2020-W05. A period is read as its
// first day, a week as its Monday.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/time/date_text.h"

namespace edict::dates {

// 2020.01, 01.2020 and 202001 are numbers unless `like` is written so.
std::optional<ParsedDate> parse_period(std::string_view text, const DateStyle* like);

// Nothing where the moment, in days and microseconds of the day, does not begin such a period.
std::optional<std::string> written_period(std::int64_t days, std::int64_t clock,
                                          const DateStyle& style);

}  // namespace edict::dates
