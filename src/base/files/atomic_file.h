// A file that appears whole or not at all: written beside its destination under a temporary name,
// synced, and renamed by commit(). Without commit() nothing is left behind; what a process that was
// killed left of the same file goes when it is written again.
//
// What is not a file of its own is written through instead: a device, a pipe, an open descriptor
// (/dev/stdout, /dev/fd/3). Of a link the file it leads to is replaced, and the link stays.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace edict {

// Where writing to a path leads, links followed.
struct Destination {
  enum class Kind { file, folder, stream };  // a file may not be there yet

  Kind kind = Kind::file;
  std::filesystem::path path;
  int descriptor = -1;  // of a stream that this process has open already
};
Destination destination_of(const std::filesystem::path& path);

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
  void open_beside();
  void close_and_remove();
  void flush();
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path name_;       // as it was given
  std::filesystem::path target_;     // what is replaced
  std::filesystem::path temporary_;  // empty where it is written through
  std::string buffer_;
  int descriptor_ = -1;
  int listed_ = -1;  // its place in the list of temporary files
};

void write_atomically(const std::filesystem::path& path, std::string_view text);

// Makes a folder, and those it lies in, so that a loss of power does not take it and what was
// written into it. Does nothing where it is there. Throws Error.
void make_folder(const std::filesystem::path& path);

// Keeps the names that a folder holds: without it they may be gone after a loss of power. An empty
// path is the folder at hand. False, with errno, where the disk fails; a file system that cannot do
// it is no failure.
bool sync_folder(const std::filesystem::path& folder);

// From here on this process writes no file: what it would write, another one does.
void write_nothing();

// Removes the temporary files of this process. Only for leaving it at once; may be called in the
// handler of a signal.
void remove_temporary_files() noexcept;

}  // namespace edict
