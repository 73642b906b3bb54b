// The bytes of a file as memory, read by the system when they are looked at. Processes of one
// machine that map the same file share them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace edict {

class MappedFile {
 public:
  // Throws Error where it is no file that can be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {bytes_, size_}; }

  // Tells the system that what was read so far is not needed soon. The bytes stay readable.
  void let_go() const;

 private:
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// These bytes of a mapped file are looked at in no order: from now on the system reads what is
// missing of them by the page, and no neighbours along with it, of which it would read megabytes.
void expect_random_order(std::span<const std::byte> bytes);
// Has the system read these bytes soon; returns at once.
void read_ahead(std::span<const std::byte> bytes);

}  // namespace edict
