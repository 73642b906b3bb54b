// All bytes of a file at once, whatever kind of file it is.
#pragma once

#include <filesystem>
#include <string>

namespace edict {

// "-" is standard input; a pipe is read to its end. Throws Error.
std::string read_file(const std::filesystem::path& path);

// How to call it in a message: "standard input" for "-".
std::string name_of_file(const std::filesystem::path& path);

}  // namespace edict
