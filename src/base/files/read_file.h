// All bytes of a file at once, or its first ones, whatever kind of file it is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>

namespace edict {

// "-" is standard input; a pipe is read to its end, or until there are `most` bytes. Throws Error.
std::string read_file(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

// How to call it in a message: "standard input" for "-".
std::string name_of_file(const std::filesystem::path& path);

}  // namespace edict
