#include "base/files/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"

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

// The end of a temporary file's name: .PROCESS-SERIAL.tmp.
std::string temporary_ending() {
  static std::atomic<unsigned> serial{0};
  return fmt::format(".{}-{}.tmp", ::getpid(), serial++);
}

bool is_temporary_ending(std::string_view text) {
  if (!text.starts_with('.') || !text.ends_with(".tmp")) return false;
  text = text.substr(1, text.size() - 5);
  const std::size_t dash = text.find('-');
  const auto number = [](std::string_view digits) {
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && number(text.substr(0, dash)) &&
         number(text.substr(dash + 1));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

bool lock(int descriptor, int how) {
  int result = -1;
  do result = ::flock(descriptor, how);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

// Removes what processes that were killed left of this file, once a process. What is being written
// is locked, by a process of any machine; where there are no locks, nothing is removed.
void remove_left_behind(const std::filesystem::path& target) {
  static std::mutex mutex;
  static std::set<std::string> looked_at;
  {
    const std::lock_guard guard(mutex);
    if (!looked_at.insert(target.native()).second) return;
  }
  const std::string name = target.filename().native();
  const std::filesystem::path folder = folder_of(target);
  // Not std::filesystem's iterator, which ends the program where there is no memory for it.
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  while (const dirent* const entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string other = entry->d_name;
    if (!other.starts_with(name) || !is_temporary_ending(other.substr(name.size()))) continue;
    const std::filesystem::path path = folder / other;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (lock(file, LOCK_EX | LOCK_NB)) ::unlink(path.c_str());
    ::close(file);
  }
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

bool sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return !is_of_machine(errno);
  const bool synced = ::fsync(file) == 0 || !is_of_machine(errno);
  const int error = errno;
  ::close(file);
  errno = error;
  return synced;
}

AtomicFile::AtomicFile(std::filesystem::path destination) : name_(std::move(destination)) {
  buffer_.reserve(2 * kPiece);  // before there is a file that nobody would remove
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
}

void AtomicFile::open_beside() {
  remove_left_behind(target_);
  struct stat status {};
  do {
    close_and_remove();
    temporary_ = target_;
    temporary_ += temporary_ending();
    listed_ = list(temporary_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      temporary_.clear();  // it is another's, if anyone's: in a container numbers come again
      unlist(listed_);
      if (errno == EEXIST) continue;
      fail("cannot be created");
    }
    lock(descriptor_, LOCK_EX);
    // Before it was locked another process may have taken it for left behind.
  } while (descriptor_ < 0 || (::fstat(descriptor_, &status) == 0 && status.st_nlink == 0));
  // Who may read the file does not change because its content does.
  struct stat before {};
  if (::stat(target_.c_str(), &before) == 0) ::fchmod(descriptor_, before.st_mode & 0777);
}

AtomicFile::~AtomicFile() { close_and_remove(); }

void AtomicFile::close_and_remove() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
  temporary_.clear();
  descriptor_ = -1;
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
  if (temporary_.empty()) {
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail("cannot be written");
    return;
  }
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("cannot be written");
  // Renamed while it is locked, so that nobody takes it for left behind. What its closing could
  // tell, syncing has told.
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be created");
  temporary_.clear();
  close_and_remove();
  if (!sync_folder(target_.parent_path())) fail("is there, but a loss of power may undo it");
}

void AtomicFile::fail(const char* what) const {
  const int error = errno;
  throw_system_error(
      error, fmt::format("{}: {} ({}); check the folder, its permissions and the free space",
                         name_.string(), what, std::strerror(error)));
}

void make_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_filename() ? path : path.parent_path();
  std::error_code unknown;
  if (folder.empty() || std::filesystem::is_directory(folder, unknown)) return;
  make_folder(folder.parent_path());
  const bool made = ::mkdir(folder.c_str(), 0777) == 0;
  if (made && sync_folder(folder.parent_path())) return;
  const int error = errno;
  if (!made && std::filesystem::is_directory(folder, unknown)) return;  // another was quicker
  throw_system_error(error, fmt::format("{}: cannot be made a folder ({}); give another",
                                        path.string(), std::strerror(error)));
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
