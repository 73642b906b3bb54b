#include "front/server/page_files.h"

#include <deque>
#include <string>
#include <vector>

#include "front/server/embedded_files.h"

namespace edict::server {
namespace {

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/plain; charset=utf-8";
}

// Paths point into the deque, whose elements stay where they are.
struct Files {
  std::deque<std::string> paths;
  std::vector<PageFile> files;

  Files() {
    for (const EmbeddedFile& file : embedded_files()) {
      paths.push_back(file.name == "index.html" ? "/" : "/page/" + std::string(file.name));
      files.push_back({paths.back(), type_of(file.name), file.text});
    }
  }
};

}  // namespace

std::span<const PageFile> page_files() {
  static const Files files;
  return files.files;
}

}  // namespace edict::server
