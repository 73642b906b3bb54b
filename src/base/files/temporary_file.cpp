#include "base/files/temporary_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace edict {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& folder)
    : folder_(folder.empty() ? "." : folder) {
  descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {  // a file system that does not know such files
    std::string name = (folder_ / ".edict-XXXXXX").string();
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ >= 0) ::unlink(name.c_str());
  }
  if (descriptor_ < 0) fail();
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      buffer_(std::move(other.buffer_)),
      at_(other.at_) {}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TemporaryFile::write(const void* bytes, std::size_t count) {
  buffer_.append(static_cast<const char*>(bytes), count);
  size_ += count;
  if (buffer_.size() >= kBuffer) flush();
}

void TemporaryFile::flush() {
  const char* p = buffer_.data();
  for (std::size_t left = buffer_.size(); left > 0;) {
    const ssize_t written = ::write(descriptor_, p, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    p += written;
    left -= static_cast<std::size_t>(written);
  }
  buffer_.clear();
}

void TemporaryFile::rewind() {
  flush();
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) fail();
  at_ = 0;
}

std::size_t TemporaryFile::read(void* bytes, std::size_t count) {
  auto* to = static_cast<char*>(bytes);
  std::size_t done = 0;
  while (done < count) {
    if (at_ == buffer_.size()) {
      buffer_.resize(kBuffer);
      const ssize_t got = ::read(descriptor_, buffer_.data(), kBuffer);
      if (got < 0 && errno == EINTR) {
        buffer_.clear();
        at_ = 0;
        continue;
      }
      if (got < 0) fail();
      buffer_.resize(static_cast<std::size_t>(got));
      at_ = 0;
      if (got == 0) break;
    }
    const std::size_t piece = std::min(count - done, buffer_.size() - at_);
    std::memcpy(to + done, buffer_.data() + at_, piece);
    at_ += piece;
    done += piece;
  }
  return done;
}

void TemporaryFile::fail() const {
  const int error = errno;
  throw_system_error(
      error, fmt::format("{}: a temporary file there cannot be used ({}); check the folder, its "
                         "permissions and the free space",
                         folder_.string(), std::strerror(error)));
}

}  // namespace edict
