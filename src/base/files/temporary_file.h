// What does not fit into memory for a while: a file without a name, gone when it is let go, however
// the process ends. It is written first, from its beginning, and then read, from its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace edict {

class TemporaryFile {
 public:
  // In this folder. Throws Error where it cannot be made.
  explicit TemporaryFile(const std::filesystem::path& folder);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  void write(const void* bytes, std::size_t count);
  std::uint64_t size() const { return size_; }

  // From now on it is read.
  void rewind();
  // As many bytes as asked for, or as there are left.
  std::size_t read(void* bytes, std::size_t count);

 private:
  void flush();
  [[noreturn]] void fail() const;

  std::filesystem::path folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;  // written
  std::string buffer_;      // written and not yet in the file, or read and not yet asked for
  std::size_t at_ = 0;      // in the buffer, where it is read
};

}  // namespace edict
