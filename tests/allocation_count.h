// Counts the calls of operator new in this test program.
#pragma once

#include <cstddef>

namespace edict {

std::size_t allocations();

}  // namespace edict
