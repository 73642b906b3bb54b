// Settings as a file that read_toml takes.
#pragma once

#include <string>

#include "edict/config/config.h"

namespace edict {

// Every key, in the order in which they are declared.
std::string to_toml(const Config& config);

}  // namespace edict
