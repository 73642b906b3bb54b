// Times as they are typed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "edict/data/dataset.h"

namespace edict::cli {

// "0:0.5:10" (start, step, end; the end belongs to it) or "1,2.5,7", ascending. Every time is the
// number one would write: the fourth of 0:0.1:1 is 0.3 and not 0.30000000000000004. Throws Error
// that begins with the name of the option.
std::vector<double> parse_times(const std::string& option, const std::string& text);

// "2024-03-01 12:00,2024-03-02": the dates, or nothing where the times are numbers.
std::vector<std::string> listed_dates(const std::string& text);

// Those dates on the clock of a series, ascending. What lies before a clock that starts with the
// first event is left out. Throws Error that begins with the name of the option.
std::vector<double> times_of_dates(const std::string& option, const std::vector<std::string>& dates,
                                   const Dataset& data, std::size_t series);

}  // namespace edict::cli
