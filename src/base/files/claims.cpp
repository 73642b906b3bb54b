#include "base/files/claims.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/folder.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* what) {
  const int error = errno;
  throw_system_error(error,
                     fmt::format("{}: a claim {} ({}); check the folder, its permissions and the "
                                 "free space",
                                 path.string(), what, std::strerror(error)));
}

double seconds(const struct timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// When a file was touched, and what time it is, both by the file system's clock.
std::optional<double> age_of(const fs::path& file, const fs::path& folder) {
  struct stat of_claim {
  }, of_now{};
  if (::stat(file.c_str(), &of_claim) != 0) return std::nullopt;  // gone meanwhile
  std::string now = (folder / ".now-XXXXXX").string();
  const int descriptor = ::mkostemp(now.data(), O_CLOEXEC);
  if (descriptor < 0) fail(folder, "cannot be looked at");
  const bool known = ::fstat(descriptor, &of_now) == 0;
  ::close(descriptor);
  ::unlink(now.c_str());
  if (!known) fail(folder, "cannot be looked at");
  return seconds(of_now.st_mtim) - seconds(of_claim.st_mtim);
}

// What tells processes of this machine, and of this container on it, from all others; empty where
// the system does not say.
std::string this_machine() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char space[64] = {};
  if (boot.empty() || ::readlink("/proc/self/ns/pid", space, sizeof space - 1) <= 0) return {};
  return boot + space;
}

// Whether a claim is of a process of this machine that is gone. What cannot be read is of nobody:
// it may be just about to be written.
bool of_the_dead(const fs::path& file) {
  std::string host, machine;
  long process = 0;
  if (!(std::ifstream(file) >> host >> process >> machine) || process <= 0) return false;
  return machine == this_machine() && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

}  // namespace

struct Claim::Held {
  // Its own file last, before it those of processes that are gone. Known beforehand, because a
  // claim must be let go even where no memory is left to make up a name.
  std::vector<fs::path> files;
  bool made = false;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::jthread touching;  // last: it uses what stands above

  ~Held() {
    touching.request_stop();
    wake.notify_all();
    if (touching.joinable()) touching.join();
    if (!made) return;
    for (const fs::path& file : files) ::unlink(file.c_str());
  }
};

Claim::Claim(std::unique_ptr<Held> held) : held_(std::move(held)) {}
Claim::Claim(Claim&&) noexcept = default;
Claim& Claim::operator=(Claim&&) noexcept = default;
Claim::~Claim() = default;

Claims::Claims(fs::path folder, std::chrono::milliseconds stale)
    : folder_(std::move(folder)), stale_(stale) {
  make_folder(folder_);
}

fs::path Claims::file(const std::string& name, int generation) const {
  return folder_ / fmt::format("{}.claim.{}", name, generation);
}

Claims::Found Claims::look(const std::string& name) const {
  Found found;
  const std::string prefix = name + ".claim.";
  for (const fs::path& entry : entries_of(folder_)) {
    const std::string other = entry.filename().string();
    int generation = -1;
    if (other.starts_with(prefix))
      std::from_chars(other.data() + prefix.size(), other.data() + other.size(), generation);
    found.generation = std::max(found.generation, generation);
  }
  if (found.generation < 0) return found;
  const fs::path latest = file(name, found.generation);
  const auto age = age_of(latest, folder_);
  found.alive = age && *age < std::chrono::duration<double>(stale_).count() && !of_the_dead(latest);
  return found;
}

std::optional<Claim> Claims::take(const std::string& name) const {
  const Found found = look(name);
  if (found.alive) return std::nullopt;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::string who = fmt::format("{} {} {}\n", host, ::getpid(), this_machine());
  auto held = std::make_unique<Claim::Held>();
  for (int generation = 0; generation <= found.generation + 1; ++generation)
    held->files.push_back(file(name, generation));
  const int made =
      ::open(held->files.back().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made < 0) {
    if (errno == EEXIST) return std::nullopt;  // it is another's
    fail(folder_, "cannot be made");
  }
  held->made = true;
  ssize_t told = -1;
  do told = ::write(made, who.data(), who.size());
  while (told < 0 && errno == EINTR);
  const int error = errno;
  ::close(made);
  errno = error;
  if (told < 0) fail(folder_, "cannot be written");
  held->touching = std::jthread([own = held.get(), every = stale_ / 10](std::stop_token stop) {
    std::unique_lock lock(own->mutex);
    while (!own->wake.wait_for(lock, stop, every, [&stop] { return stop.stop_requested(); }))
      ::utimensat(AT_FDCWD, own->files.back().c_str(), nullptr, 0);
  });
  return Claim(std::move(held));
}

void work_through(const Claims& claims, std::size_t count,
                  const std::function<std::string(std::size_t)>& name,
                  const std::function<bool(std::size_t)>& done,
                  const std::function<void(std::size_t)>& work, StopFlag stop) {
  std::vector<bool> finished(count, false);
  for (std::size_t left = count; left > 0;) {
    bool worked = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (finished[i]) continue;
      leave_if_stopped(stop);
      // Looked at under the claim: another may have finished it just before.
      if (!done(i)) {
        const std::optional<Claim> claim = claims.take(name(i));
        if (!claim) continue;
        if (!done(i)) work(i);
      }
      finished[i] = worked = true;
      --left;
    }
    if (!worked && left > 0) wait_for_others(stop);
  }
}

void wait_for_others(StopFlag stop) {
  for (int i = 0; i < 5; ++i) {
    leave_if_stopped(stop);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace edict
