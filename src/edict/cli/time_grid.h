// Times as they are typed.
#pragma once

#include <string>
#include <vector>

namespace edict::cli {

// "0:0.5:10" (start, step, end; the end belongs to it) or "1,2.5,7", ascending. Every time is the
// number one would write: the fourth of 0:0.1:1 is 0.3 and not 0.30000000000000004. Throws Error
// that begins with the name of the option.
std::vector<double> parse_times(const std::string& option, const std::string& text);

}  // namespace edict::cli
