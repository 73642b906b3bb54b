#include "research/import/download.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edict {

void fail_missing(const std::filesystem::path& from, std::string_view file,
                  const Download& download) {
  std::error_code ignored;
  const char* where = std::filesystem::exists(from, ignored) ? "" : "no such file or folder, so ";
  throw Error(fmt::format("{}: {}no {}; download {} from {} (licence: {}; {}) and give its folder",
                          from.string(), where, file, download.dataset, download.page,
                          download.licence, download.size));
}

std::string grouped(std::size_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace edict
