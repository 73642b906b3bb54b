#include "edict/core/atomic_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "edict/core/error.h"

namespace edict {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path destination) : destination_(std::move(destination)) {
  static std::atomic<unsigned> serial{0};
  std::error_code ignored;
  if (std::filesystem::is_directory(destination_, ignored))
    throw Error(fmt::format("{}: is a directory; give the name of a file", destination_.string()));
  temporary_ = destination_;
  temporary_ += fmt::format(".{}-{}.tmp", ::getpid(), serial++);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot be created");
  buffer_.reserve(2 * kPiece);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kPiece) flush();
}

void AtomicFile::flush() {
  const char* p = buffer_.data();
  for (std::size_t left = buffer_.size(); left > 0;) {
    const ssize_t written = ::write(descriptor_, p, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    p += written;
    left -= static_cast<std::size_t>(written);
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("cannot be written");
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail("cannot be written");
  if (::rename(temporary_.c_str(), destination_.c_str()) != 0) fail("cannot be created");
  temporary_.clear();
  // The new name itself lives in the folder; a file system that cannot sync one is no error.
  const auto parent = destination_.parent_path();
  const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void AtomicFile::fail(const char* what) const {
  throw Error(fmt::format("{}: {} ({}); check the folder, its permissions and the free space",
                          destination_.string(), what, std::strerror(errno)));
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace edict
