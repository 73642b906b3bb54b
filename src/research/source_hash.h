// Which sources this program was built from. cmake/source_hash.cmake computes it at build time.
#pragma once

#include <string_view>

namespace edict::study {

// SHA-256, as 64 hexadecimal digits, of every file that decides about a number
// (EDICT_HASHED_FOLDERS in CMakeLists.txt): names and contents. Another commit with the same files
// has the same hash.
std::string_view source_hash();

}  // namespace edict::study
