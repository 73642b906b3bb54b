// The parts of a date, as they are taken off a text: day, time of day, zone.
#pragma once

#include <cstdint>
#include <optional>

#include "data/time/date_scanner.h"
#include "data/time/date_text.h"

namespace edict::dates {

// Of two digits, as POSIX reads them.
int full_year(int year);

// Year, month and day. 3/4/2024 in the order of `like`, or that a number decides.
bool take_day(Scanner& text, Day& day, DateStyle& style, const DateStyle* like);

// AM or PM behind a time of day; false where something else begins with these letters.
bool take_half(Scanner& text, int& hour, DateStyle& style);

// Decimals of a second behind their point, in microseconds; −1 where there are none.
std::int64_t take_decimals(Scanner& text, DateStyle& style);

// Hours, minutes, seconds and decimals, in microseconds; −1 where it is none.
std::int64_t take_clock(Scanner& text, DateStyle& style, char colon = ':');

// Z, UTC or hours and minutes from it.
bool take_zone(Scanner& text, std::int16_t& zone, DateStyle& style);

// The moment of a day and a time of day, which the zone and style of `result` belong to.
std::optional<ParsedDate> date_of(const Day& day, std::int64_t clock, ParsedDate result);

}  // namespace edict::dates
