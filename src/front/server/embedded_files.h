// What cmake/embed.cmake puts into the program: the files of src/front/server/page by name.
#pragma once

#include <span>
#include <string_view>

namespace edict::server {

struct EmbeddedFile {
  std::string_view name;  // main.js
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();

}  // namespace edict::server
