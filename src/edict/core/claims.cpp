#include "edict/core/claims.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "edict/core/atomic_file.h"
#include "edict/core/error.h"

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

}  // namespace

struct Claim::Held {
  fs::path folder, file;
  std::string name;
  int generation = 0;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::jthread touching;  // last: it uses what stands above

  ~Held() {
    touching.request_stop();
    wake.notify_all();
    if (touching.joinable()) touching.join();
    // The older ones are those of processes that are gone.
    for (int g = 0; g <= generation; ++g)
      ::unlink((folder / fmt::format("{}.claim.{}", name, g)).c_str());
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
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string other = entry.path().filename().string();
    int generation = -1;
    if (other.starts_with(prefix))
      std::from_chars(other.data() + prefix.size(), other.data() + other.size(), generation);
    found.generation = std::max(found.generation, generation);
  }
  if (found.generation < 0) return found;
  const auto age = age_of(file(name, found.generation), folder_);
  found.alive = age && *age < std::chrono::duration<double>(stale_).count();
  return found;
}

std::optional<Claim> Claims::take(const std::string& name) const {
  const Found found = look(name);
  if (found.alive) return std::nullopt;
  auto held = std::make_unique<Claim::Held>();
  held->folder = folder_;
  held->name = name;
  held->generation = found.generation + 1;
  held->file = file(name, held->generation);
  const int made = ::open(held->file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made < 0) {
    held->generation = -1;  // it is another's
    if (errno == EEXIST) return std::nullopt;
    fail(folder_, "cannot be made");
  }
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::string who = fmt::format("{} {}\n", host, ::getpid());
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
      ::utimensat(AT_FDCWD, own->file.c_str(), nullptr, 0);
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
