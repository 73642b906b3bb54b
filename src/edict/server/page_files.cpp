#include "edict/server/page_files.h"

#include <array>

namespace edict::server {

std::span<const PageFile> page_files() {
  static constexpr std::array<PageFile, 1> kFiles{
      {{"/", "text/html; charset=utf-8",
        "<!doctype html><title>edict</title><p>The server runs; this build has no page. See "
        "<a href=\"/openapi.json\">/openapi.json</a>.\n"}}};
  return kFiles;
}

}  // namespace edict::server
