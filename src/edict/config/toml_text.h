// Settings as TOML text.
#pragma once

#include <string>
#include <string_view>

#include "edict/config/config.h"

namespace edict {

// What read_toml does with a file; messages call the text `name`.
void read_toml_text(std::string_view text, const std::string& name, Config& config);

// Every key with its value; reads back as the same configuration.
std::string to_toml(const Config& config);

}  // namespace edict
