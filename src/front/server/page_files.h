// The page that the server shows at /, as files that travel inside the program:
// src/front/server/page and what draws its charts (cmake/server_page.cmake).
#pragma once

#include <span>
#include <string_view>

namespace edict::server {

struct PageFile {
  std::string_view path;  // /page/main.js; / is index.html
  std::string_view type;  // text/javascript; charset=utf-8
  std::string_view content;
};

std::span<const PageFile> page_files();

}  // namespace edict::server
