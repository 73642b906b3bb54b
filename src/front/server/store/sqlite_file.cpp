#include "front/server/store/sqlite_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/files/read_file.h"
#include "front/server/store/sqlite_connection.h"

namespace edict::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLogBegin = 1 << 18;  // holds the first transaction
constexpr std::array<const char*, 3> kEndings{"", "-wal", "-shm"};

[[noreturn]] void fail_to_open(const std::string& name, const char* remedy) {
  const int error = errno;
  throw_system_error(error, fmt::format("{}: {}; {}", name, std::strerror(error), remedy));
}

// Makes a file that other users of this machine cannot read, where there is none yet. SQLite gives
// its mode to what it keeps beside it.
void make_private(const std::string& path) {
  struct stat now {};
  if (::stat(path.c_str(), &now) == 0) {
    // Made by an earlier version. What a group may do was set on purpose.
    if ((now.st_mode & 07) != 0) ::chmod(path.c_str(), now.st_mode & 0770);
    return;
  }
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) fail_to_open(path, "give a file in a folder that can be written to");
  ::close(descriptor);
}

// Whether a file was written by a server, or is to become a store: its first page names the tables,
// unless power went before that page was written and they stand in the write-ahead log alone.
bool is_store(const std::string& path) {
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0 || (S_ISREG(now.st_mode) && now.st_size == 0)) return true;
  if (!S_ISREG(now.st_mode)) return false;
  const bool is_one_page = static_cast<std::size_t>(now.st_size) <= kPage;
  constexpr std::string_view kTable = "CREATE TABLE observations (\n  stream INTEGER NOT NULL";
  const std::string page = read_file(path, kPage);
  const auto holds = [](const std::string& bytes, std::string_view text) {
    return bytes.find(text) != std::string::npos;
  };
  if (page.starts_with(kMagic) && holds(page, kTable)) return true;
  const std::string log = path + "-wal";
  if (::stat(log.c_str(), &now) == 0 && S_ISREG(now.st_mode) &&
      holds(read_file(log, kLogBegin), kTable))
    return true;
  return page.starts_with(kMagic) && is_one_page && !holds(page, "CREATE ");
}

// Empty where the file is sound, or new. Throws Error where it could not be read: a disk or a
// memory that fails says nothing about the file.
std::string damage_of(const std::string& path) {
  const Database db = open_database(path);
  const auto found = [&] {
    if (!is_damage(sqlite3_errcode(db.get()))) fail_sqlite(db.get(), "it cannot be checked");
    return std::string(sqlite3_errmsg(db.get()));
  };
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db.get(), "PRAGMA quick_check(1)", -1, &statement, nullptr) != SQLITE_OK)
    return found();
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owned(statement, sqlite3_finalize);
  const int code = sqlite3_step(statement);
  if (code == SQLITE_DONE) return "";
  if (code != SQLITE_ROW) return found();
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  if (!text) return found();
  // A page that could not be read counts as damage, with the code of what kept it from being read.
  constexpr const char* kUnread = "error code=";
  const char* const unread = std::strstr(text, kUnread);
  if (unread && !is_damage(std::atoi(unread + std::strlen(kUnread))))
    throw MachineError(
        fmt::format("the store: {}: it cannot be checked: a page cannot be read", path));
  return std::string_view(text) == "ok" ? "" : text;
}

}  // namespace

SqliteFile::SqliteFile(std::string path) : path_(std::move(path)) {
  const std::string name = path_ + ".lock";
  named_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (named_ < 0) fail_to_open(name, "choose a folder that can be written to");
  try {
    if (::flock(named_, LOCK_EX | LOCK_NB) != 0)
      throw Error(fmt::format(
          "{}: another server works on it; stop that one, or give another --store", path_));
    lock();
  } catch (...) {
    ::close(named_);
    throw;
  }
}

SqliteFile::~SqliteFile() {
  ::close(file_);
  ::close(named_);
}

// By the file itself: another name of it has another lock beside it.
void SqliteFile::lock() {
  // Before SQLite opens it: closing a file gives up every lock that the process has on it.
  for (const char* ending : {"-wal", "-shm"})
    if (fs::exists(path_ + ending)) make_private(path_ + ending);
  make_private(path_);
  file_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (file_ < 0) fail_to_open(path_, "give a file that can be written to");
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(file_);
  file_ = -1;
  throw Error(fmt::format(
      "{}: another server works on the same file under another name; stop that one, or give "
      "another --store",
      path_));
}

std::string SqliteFile::put_aside() {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  std::string name = fmt::format("{}.damaged-{}", path_, now);
  for (const char* ending : kEndings)
    if (fs::exists(path_ + ending)) fs::rename(path_ + ending, name + ending);
  ::close(file_);
  lock();
  return name;
}

void SqliteFile::check() {
  const auto refuse = [&](const char* what) {
    throw MachineError(
        fmt::format("the store: {} was {} while the server ran; stop the server, put the file "
                    "back, and start it again",
                    path_, what));
  };
  struct stat now {
  }, own{};
  if (::stat(path_.c_str(), &now) != 0 || ::fstat(file_, &own) != 0 || now.st_dev != own.st_dev ||
      now.st_ino != own.st_ino || now.st_size < seen_.st_size)
    refuse("removed, replaced or emptied");
  seen_ = now;
  std::array<char, kMagic.size()> head{};
  if (begun_ && ::pread(file_, head.data(), head.size(), 0) == static_cast<ssize_t>(head.size()) &&
      std::string_view(head.data(), head.size()) != kMagic)
    refuse("overwritten");
}

void SqliteFile::note_damage(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (damage_.empty())
    damage_ = fmt::format(
        "the store: {} is damaged ({}); stop the server and start it again, or restore a backup",
        path_, why);
}

std::string SqliteFile::damage() const {
  const std::lock_guard lock(mutex_);
  return damage_;
}

std::shared_ptr<SqliteFile> open_sqlite_file(const std::string& given,
                                             std::vector<std::string>& notices) {
  std::error_code unknown;
  const fs::path followed =
      fs::is_symlink(given, unknown) ? fs::weakly_canonical(given, unknown) : fs::path(given);
  const std::string path = unknown ? given : followed.string();
  if (!is_store(path))
    throw Error(fmt::format(
        "{}: is no store of edict, or damaged beyond recognition; give another --store, or move "
        "the file away",
        path));
  auto file = std::make_shared<SqliteFile>(path);
  if (const std::string damage = damage_of(path); !damage.empty())
    notices.push_back(fmt::format("{} is damaged ({}); it was kept as {}, and an empty one begun",
                                  path, damage, file->put_aside()));
  return file;
}

std::string make_part_of(const std::string& path) {
  std::string name = path + ".part-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail_to_open(path, "give a file in a folder that can be written to");
  ::close(descriptor);
  return name;
}

}  // namespace edict::server
