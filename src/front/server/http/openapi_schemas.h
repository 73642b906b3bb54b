// What answers and bodies look like, for the description of the interface.
#pragma once

#include <string_view>

namespace edict::server {

// A JSON object of schemas by their names.
std::string_view openapi_schemas();

}  // namespace edict::server
