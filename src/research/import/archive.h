// The files of a folder, of a .tar.gz, .tgz, .tar or .zip archive, or a single plain file, as the
// same stream of (name, bytes). Nothing is ever written to disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "research/import/import.h"

namespace edict {

struct ArchiveEntry {
  std::string name;  // path within the folder or archive
  std::string bytes;
};

// What an archive may ask of the machine: against small archives that unpack to huge ones.
struct ArchiveLimits {
  std::size_t entry_bytes = std::size_t{1} << 32;
  std::size_t total_bytes = std::size_t{1} << 34;
};

// By base name: whether a file is of interest.
using WantedFile = std::function<bool(std::string_view base_name)>;

bool is_archive(const std::filesystem::path& path);
std::string_view base_name(std::string_view name);

// The wanted regular files in `from`, sorted by name, so that the order does not depend on how
// they were packed. Folders are read to their depths; archives inside them are left alone.
std::vector<ArchiveEntry> read_archive(const std::filesystem::path& from, const WantedFile& wanted,
                                       const Progress& progress = {},
                                       const ArchiveLimits& limits = {});

// Likewise for a download folder: its plain files, or where none is wanted those in the archives
// that lie directly in it.
std::vector<ArchiveEntry> read_download(const std::filesystem::path& from, const WantedFile& wanted,
                                        const Progress& progress = {});

}  // namespace edict
