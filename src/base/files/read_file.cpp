#include "base/files/read_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace edict {

std::string name_of_file(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path.string();
}

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  struct Descriptor {
    int number;
    ~Descriptor() {
      if (number >= 0) ::close(number);
    }
  };
  const auto refuse = [&](const std::string& what) -> Error {
    return Error(fmt::format("{}: {}", name_of_file(path), what));
  };
  const Descriptor file{path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const int unopened = file.number < 0 ? errno : 0;
  if (unopened == ENOENT) throw refuse("no such file; check the path");
  struct stat status {};
  if (file.number >= 0 && ::fstat(file.number, &status) == 0 && S_ISDIR(status.st_mode))
    throw refuse("is a directory; give a file");
  // One more to see the end by.
  std::string bytes(std::min(most, static_cast<std::size_t>(status.st_size) + 1), '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got != 0 && size < most;) {
    if (size == bytes.size()) bytes.resize(std::min(most, std::max<std::size_t>(2 * size, 65536)));
    if (unopened) errno = unopened;
    got = unopened ? -1 : ::read(file.number, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      throw_system_error(error,
                         fmt::format("{}: cannot be read ({}); check the file and its permissions",
                                     name_of_file(path), std::strerror(error)));
    }
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace edict
