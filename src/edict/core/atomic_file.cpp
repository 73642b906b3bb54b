#include "edict/core/atomic_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <utility>

#include "edict/core/error.h"

namespace edict {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

// Temporary files that exist now. In memory that is never freed, because the handler of a signal
// may read it at any moment. A file that finds no place is removed in every other case.
struct Listed {
  enum State { empty, filling, there };
  std::atomic<State> state = empty;
  char path[PATH_MAX];
};
Listed listed_files[16];
static_assert(std::atomic<Listed::State>::is_always_lock_free);

int list(const std::filesystem::path& path) {
  const std::string& text = path.native();
  if (text.size() >= PATH_MAX) return -1;
  int place = 0;
  for (Listed& file : listed_files) {
    Listed::State expected = Listed::empty;
    if (file.state.compare_exchange_strong(expected, Listed::filling)) {
      std::memcpy(file.path, text.c_str(), text.size() + 1);
      file.state = Listed::there;
      return place;
    }
    ++place;
  }
  return -1;
}

void unlist(int& place) {
  if (place >= 0) listed_files[place].state = Listed::empty;
  place = -1;
}

// The number in /dev/stdout, /dev/fd/3, /proc/self/fd/3; -1 for any other path.
int descriptor_in(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string& folder : {std::string("/dev/fd/"), std::string("/proc/self/fd/"),
                                    fmt::format("/proc/{}/fd/", ::getpid())})
    if (path.starts_with(folder)) {
      int number = -1;
      const char* const end = path.data() + path.size();
      const auto [last, error] = std::from_chars(path.data() + folder.size(), end, number);
      if (error == std::errc() && last == end && number >= 0) return number;
    }
  return -1;
}

// Whether this process is one that writes files.
bool writes_files = true;

}  // namespace

Destination destination_of(const std::filesystem::path& path) {
  Destination result{Destination::Kind::file, path};
  constexpr int kLinks = 40;  // what the system itself follows
  for (int followed = 0; followed < kLinks; ++followed) {
    result.descriptor = descriptor_in(result.path.lexically_normal().native());
    if (result.descriptor >= 0) {
      result.kind = Destination::Kind::stream;
      return result;
    }
    std::error_code none;
    const auto leads_to = std::filesystem::read_symlink(result.path, none);
    if (none) break;
    result.path = result.path.parent_path() / leads_to;
  }
  struct stat status {};
  if (::stat(result.path.c_str(), &status) != 0) return result;
  if (S_ISDIR(status.st_mode))
    result.kind = Destination::Kind::folder;
  else if (!S_ISREG(status.st_mode))
    result.kind = Destination::Kind::stream;
  return result;
}

void write_nothing() { writes_files = false; }

AtomicFile::AtomicFile(std::filesystem::path destination) : name_(std::move(destination)) {
  Destination found = destination_of(name_);
  if (!writes_files) found = {Destination::Kind::stream, "/dev/null"};
  target_ = std::move(found.path);
  switch (found.kind) {
    case Destination::Kind::folder:
      throw Error(fmt::format("{}: is a directory; give the name of a file", name_.string()));
    case Destination::Kind::stream:
      descriptor_ = found.descriptor >= 0
                        ? ::fcntl(found.descriptor, F_DUPFD_CLOEXEC, 3)
                        : ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
      if (descriptor_ < 0) fail("cannot be opened");
      break;
    case Destination::Kind::file:
      if (std::filesystem::is_symlink(target_)) {  // there was no end to them
        errno = ELOOP;
        fail("cannot be opened");
      }
      open_beside();
      break;
  }
  buffer_.reserve(2 * kPiece);
}

void AtomicFile::open_beside() {
  static std::atomic<unsigned> serial{0};
  temporary_ = target_;
  temporary_ += fmt::format(".{}-{}.tmp", ::getpid(), serial++);
  listed_ = list(temporary_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    unlist(listed_);
    fail("cannot be created");
  }
  // Who may read the file does not change because its content does.
  struct stat before {};
  if (::stat(target_.c_str(), &before) == 0) ::fchmod(descriptor_, before.st_mode & 0777);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  unlist(listed_);
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
  if (!temporary_.empty() && ::fsync(descriptor_) != 0 && errno != EINVAL)
    fail("cannot be written");
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail("cannot be written");
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be created");
  temporary_.clear();
  unlist(listed_);
  // The new name itself lives in the folder; a file system that cannot sync one is no error.
  const auto parent = target_.parent_path();
  const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void AtomicFile::fail(const char* what) const {
  throw Error(fmt::format("{}: {} ({}); check the folder, its permissions and the free space",
                          name_.string(), what, std::strerror(errno)));
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void remove_temporary_files() noexcept {
  for (const Listed& file : listed_files)
    if (file.state == Listed::there) ::unlink(file.path);
}

}  // namespace edict
