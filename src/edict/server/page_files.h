// The files of the page, which travel inside the program.
#pragma once

#include <span>
#include <string_view>

namespace edict::server {

struct PageFile {
  std::string_view path;  // "/" or "/page/…"
  std::string_view type;  // "text/html; charset=utf-8"
  std::string_view content;
};
std::span<const PageFile> page_files();

}  // namespace edict::server
