#include "base/files/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace edict {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto refuse = [&](int descriptor) {
    const int reason = errno;
    if (descriptor >= 0) ::close(descriptor);
    throw_system_error(reason,
                       fmt::format("{}: cannot be read ({}); check the file and its permissions",
                                   path.string(), std::strerror(reason)));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) refuse(file);
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) {
    void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) refuse(file);
    bytes_ = static_cast<const std::byte*>(mapped);
  }
  ::close(file);
}

MappedFile::~MappedFile() {
  if (bytes_) ::munmap(const_cast<std::byte*>(bytes_), size_);
}

void MappedFile::let_go() const {
  if (bytes_) ::madvise(const_cast<std::byte*>(bytes_), size_, MADV_DONTNEED);
}

namespace {

// Advice is given for whole pages.
void advise(std::span<const std::byte> bytes, int advice) {
  if (bytes.empty()) return;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  ::madvise(const_cast<std::byte*>(bytes.data() - before), before + bytes.size(), advice);
}

}  // namespace

void expect_random_order(std::span<const std::byte> bytes) { advise(bytes, MADV_RANDOM); }

void read_ahead(std::span<const std::byte> bytes) { advise(bytes, MADV_WILLNEED); }

}  // namespace edict
