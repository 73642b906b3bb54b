// Bodies that travel packed (RFC 1952).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace edict::server {

// What gzip holds, in one member or in several; nothing where it is none, or more than `most`.
std::optional<std::string> unpacked(const std::string& packed, std::size_t most);
std::string packed(std::string_view text);
// Whether a client takes answers as gzip, by its Accept-Encoding.
bool takes_gzip(std::string_view accepted);

}  // namespace edict::server
