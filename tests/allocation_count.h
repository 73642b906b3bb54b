// Counts the calls of operator new in this test program, and the bytes that they hold.
#pragma once

#include <cstddef>

namespace edict {

std::size_t allocations();

// From here on, and the most that was held at once since, beyond what was held here.
void begin_peak();
std::size_t peak_bytes();

}  // namespace edict
