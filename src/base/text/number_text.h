// Numbers as text, quickly and the same on every machine.
#pragma once

#include <string>

namespace edict {

// The shortest text that reads back as the same double: for what came from the data.
void append_shortest(std::string& to, double value);

// Nine significant digits without trailing zeros: for what was computed in single precision, of
// which more digits would tell nothing. Several times as fast as the shortest text. The last digit
// may be rounded the other way where the value lies within 1e-7 of a half of it.
void append_nine_digits(std::string& to, double value);

}  // namespace edict
