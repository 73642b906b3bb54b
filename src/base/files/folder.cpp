#include "base/files/folder.h"

#include <dirent.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "base/error.h"

namespace edict {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  const auto refuse = [&](int error) {
    if (error == ENOMEM) throw std::bad_alloc();
    throw_system_error(error, fmt::format("{}: this folder cannot be read ({}); give another",
                                          folder.string(), std::strerror(error)));
  };
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) refuse(errno);
  std::vector<std::filesystem::path> entries;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (!entry) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries.push_back(folder / name);
  }
  if (errno != 0) refuse(errno);
  std::ranges::sort(entries);
  return entries;
}

}  // namespace edict
