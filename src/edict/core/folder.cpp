#include "edict/core/folder.h"

#include <dirent.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "edict/core/error.h"

namespace edict {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, int& error) {
  std::vector<std::filesystem::path> entries;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  error = open ? 0 : errno;
  while (open) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    error = errno;
    if (!entry) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries.push_back(folder / name);
  }
  std::ranges::sort(entries);
  return entries;
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  int error = 0;
  std::vector<std::filesystem::path> entries = entries_of(folder, error);
  if (error == ENOMEM) throw std::bad_alloc();
  if (error != 0)
    throw_system_error(error, fmt::format("{}: this folder cannot be read ({}); give another",
                                          folder.string(), std::strerror(error)));
  return entries;
}

}  // namespace edict
