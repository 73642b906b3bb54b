#include "research/import/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "base/files/folder.h"
#include "base/files/read_file.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 1 << 16;

[[noreturn]] void refuse(const fs::path& path, std::string_view what) {
  throw Error(fmt::format("{}: {}", path.string(), what));
}

// Counts what is unpacked against the limits.
class Budget {
 public:
  Budget(const fs::path& path, const ArchiveLimits& limits) : path_(path), limits_(limits) {}

  void spend(std::size_t entry, std::size_t more) {
    total_ += more;
    if (entry > limits_.entry_bytes || total_ > limits_.total_bytes)
      refuse(path_, "unpacks to more than this dataset can be; check that it is the right file");
  }

 private:
  const fs::path& path_;
  const ArchiveLimits& limits_;
  std::size_t total_ = 0;
};

std::string read_plain(const fs::path& path, Budget& budget) {
  std::error_code unknown;
  const auto size = fs::file_size(path, unknown);
  if (unknown) refuse(path, "cannot be read; give a regular file");
  budget.spend(size, size);
  std::string bytes = read_file(path);
  if (bytes.size() != size) refuse(path, "changed while it was read; try again");
  return bytes;
}

// Also of the folders within; a link to a folder is not followed.
void add_wanted(const fs::path& folder, const WantedFile& wanted, std::vector<fs::path>& paths) {
  for (const fs::path& path : entries_of(folder))
    if (fs::is_directory(fs::symlink_status(path)))
      add_wanted(path, wanted, paths);
    else if (fs::is_regular_file(path) && wanted(path.filename().string()))
      paths.push_back(path);
}

std::vector<ArchiveEntry> read_folder(const fs::path& folder, const WantedFile& wanted,
                                      const Progress& progress, Budget& budget) {
  std::vector<fs::path> paths;
  add_wanted(folder, wanted, paths);
  std::vector<ArchiveEntry> entries;
  for (const fs::path& path : paths) {
    entries.push_back({path.lexically_relative(folder).string(), read_plain(path, budget)});
    if (progress) progress(static_cast<double>(entries.size()) / static_cast<double>(paths.size()));
  }
  return entries;
}

class ArchiveReader {
 public:
  explicit ArchiveReader(const fs::path& path) : path_(path), handle_(archive_read_new()) {
    if (!handle_) refuse(path_, "cannot be read; not enough memory");
    archive_read_support_filter_all(handle_.get());
    archive_read_support_format_tar(handle_.get());
    archive_read_support_format_zip(handle_.get());
    check(archive_read_open_filename(handle_.get(), path_.c_str(), kBlock));
  }

  // The next entry, or null at the end.
  archive_entry* next() {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(handle_.get(), &entry);
    if (result == ARCHIVE_EOF) return nullptr;
    check(result);
    ++entries_;
    return entry;
  }

  std::string bytes(std::size_t expected, Budget& budget) {
    std::string bytes;
    bytes.reserve(std::min(expected, kBlock));
    std::array<char, kBlock> block;
    for (;;) {
      const auto got = archive_read_data(handle_.get(), block.data(), block.size());
      if (got < 0) check(ARCHIVE_FATAL);
      if (got == 0) return bytes;
      bytes.append(block.data(), static_cast<std::size_t>(got));
      budget.spend(bytes.size(), static_cast<std::size_t>(got));
    }
  }

  // Compressed bytes consumed.
  double consumed() const { return static_cast<double>(archive_filter_bytes(handle_.get(), -1)); }

 private:
  struct Free {
    void operator()(archive* handle) const { archive_read_free(handle); }
  };

  void check(int result) const {
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
    const char* why = archive_error_string(handle_.get());
    refuse(path_, fmt::format("is no archive, damaged or cut short: {} after {} files; download "
                              "it again",
                              why ? why : "unreadable", entries_));
  }

  fs::path path_;
  std::unique_ptr<archive, Free> handle_;
  std::size_t entries_ = 0;
};

std::vector<ArchiveEntry> read_packed(const fs::path& path, const WantedFile& wanted,
                                      const Progress& progress, Budget& budget) {
  ArchiveReader reader(path);
  const double size = static_cast<double>(std::max<std::uintmax_t>(1, fs::file_size(path)));
  std::vector<ArchiveEntry> entries;
  while (archive_entry* entry = reader.next()) {
    const char* name = archive_entry_pathname(entry);
    if (!name || archive_entry_filetype(entry) != AE_IFREG || !wanted(base_name(name))) continue;
    const std::string copy = name;
    const auto expected =
        static_cast<std::size_t>(std::max<la_int64_t>(0, archive_entry_size(entry)));
    entries.push_back({copy, reader.bytes(expected, budget)});
    if (progress) progress(std::min(1.0, reader.consumed() / size));
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

}  // namespace

bool is_archive(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".tar.gz") || name.ends_with(".tgz") || name.ends_with(".tar") ||
         name.ends_with(".zip");
}

std::string_view base_name(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

std::vector<ArchiveEntry> read_archive(const fs::path& from, const WantedFile& wanted,
                                       const Progress& progress, const ArchiveLimits& limits) {
  Budget budget(from, limits);
  try {
    if (fs::is_directory(from)) return read_folder(from, wanted, progress, budget);
    if (!fs::exists(from)) refuse(from, "no such file or folder; check the path");
    if (is_archive(from)) return read_packed(from, wanted, progress, budget);
    if (!wanted(from.filename().string())) return {};
    std::vector<ArchiveEntry> entries;
    entries.push_back({from.filename().string(), read_plain(from, budget)});
    return entries;
  } catch (const fs::filesystem_error& error) {
    refuse(from, fmt::format("cannot be read ({}); check its permissions", error.code().message()));
  }
}

std::vector<ArchiveEntry> read_download(const fs::path& from, const WantedFile& wanted,
                                        const Progress& progress) {
  auto entries = read_archive(from, wanted, progress);
  if (!entries.empty() || !fs::is_directory(from)) return entries;
  for (const fs::path& path : entries_of(from)) {
    if (!fs::is_regular_file(path) || !is_archive(path)) continue;
    for (auto& entry : read_archive(path, wanted, progress)) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace edict
