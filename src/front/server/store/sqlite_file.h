// The file of a store, which all connections of this process share: whose it is, and whether it is
// still the one that was opened.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace edict::server {

class SqliteFile {
 public:
  // Locks the file at a path, or a new one, against every other server, by whatever name that one
  // knows it. Throws Error.
  explicit SqliteFile(std::string path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  const std::string& path() const { return path_; }
  // A damaged file, with what lies beside it, gets another name, and an empty one is begun. Returns
  // that name.
  std::string put_aside();
  // From now on the file begins as a database does.
  void set_begun() { begun_ = true; }
  // Throws MachineError where what is written now would be lost with the next start: the file was
  // removed, replaced, emptied or overwritten.
  void check();
  // What reading found to be damaged stays so.
  void note_damage(const std::string& why);
  std::string damage() const;

 private:
  void lock();

  const std::string path_;
  int named_ = -1;  // the lock that earlier versions take
  int file_ = -1;
  bool begun_ = false;
  struct stat seen_ {};
  mutable std::mutex mutex_;  // of the damage
  std::string damage_;
};

// Opens and checks the file at a path, links followed. A file that no server has written is left
// alone: Error. What happened to a damaged one is added to `notices`.
std::shared_ptr<SqliteFile> open_sqlite_file(const std::string& path,
                                             std::vector<std::string>& notices);

// Makes a new, empty file beside a path that only this user can read, and returns its name.
std::string make_part_of(const std::string& path);

}  // namespace edict::server
