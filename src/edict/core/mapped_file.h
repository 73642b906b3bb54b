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

// Has the system read these bytes of a mapped file soon, and none beside them; returns at once. Who
// looks at them only then would wait for each, and for the neighbours that are read along with it.
void read_ahead(std::span<const std::byte> bytes);

}  // namespace edict
