// A file that appears whole or not at all: written beside its destination under a temporary name,
// synced, and renamed by commit(). Without commit() nothing is left behind.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace edict {

class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path destination);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Appends; collected in memory and handed to the system in large pieces.
  void write(std::string_view bytes);
  void commit();

 private:
  void flush();
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path destination_;
  std::filesystem::path temporary_;
  std::string buffer_;
  int descriptor_ = -1;
};

void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace edict
