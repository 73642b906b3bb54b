// What lies in a folder. The iterator of libstdc++ 12 takes memory within a function that may not
// throw, and so ends the process where there is none.
#pragma once

#include <filesystem>
#include <vector>

namespace edict {

// The paths of its entries, sorted. Throws like every function that meets the system.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace edict
