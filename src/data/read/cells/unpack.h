// Files that are compressed as a whole, as by gzip or zstd.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace edict {

enum class Packing { none, gzip, zstd };

// By the first bytes, whatever the file is called.
Packing packing_of(std::string_view bytes);

// Of every member that the file holds, one after the other. Throws Error, which begins with the
// name, where the bytes are damaged, end too early or make more than `limit`.
std::string unpacked(std::string_view bytes, Packing packing, const std::string& name,
                     std::size_t limit);

}  // namespace edict
