#include "front/server/http/health.h"

#include <fmt/core.h>

#include <chrono>
#include <random>

#include "base/error.h"

namespace edict::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kProbeEvery(5);  // two tries while all is well
constexpr std::chrono::seconds kLookEvery(1);   // and while something is not
constexpr std::chrono::seconds kPatience(10);   // until a try counts as failed
constexpr const char* kMark = "server";

std::string new_mark() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

// A try to write a mark of this server's own. A store without it, or with another one, was emptied
// or replaced while the server ran: what was stored before is not in it.
struct Health::Probe {
  const std::string mark = new_mark();
  std::mutex mutex;  // of the rest
  bool marked = false, under_way = false;
  Clock::time_point began{};
  std::string problem{};

  // On the writer's thread.
  void write(Store& store) {
    bool expected = false;
    {
      const std::lock_guard lock(mutex);
      expected = marked;
    }
    if (expected && store.meta(kMark) != mark)
      throw MachineError(
          "the store was emptied or replaced while the server ran; stop the server, restore the "
          "store, and start it again");
    store.set_meta(kMark, mark);
  }
  void end(const Result<>& written) {
    const std::lock_guard lock(mutex);
    under_way = false;
    marked = marked || written;
    problem = written ? "" : written.failure().text;
  }
};

Health::Health(Live& live)
    : live_(live), probe_(std::make_shared<Probe>()), thread_([this] { run(); }) {}

Health::~Health() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

void Health::watch(std::string name, std::function<std::string()> problem) {
  const std::lock_guard lock(mutex_);
  parts_.emplace_back(std::move(name), std::move(problem));
}

void Health::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::erase_if(parts_, [&](const auto& part) { return part.first == name; });
}

void Health::run() {
  std::unique_lock lock(mutex_);
  for (Clock::time_point last{}; !stopping_;) {
    const bool due = Clock::now() - last >= kProbeEvery || !store_problem().empty();
    bool free = false;
    {
      const std::lock_guard own(probe_->mutex);
      free = !probe_->under_way;
      if (due && free) {
        probe_->under_way = true;
        probe_->began = last = Clock::now();
      }
    }
    if (due && free)
      live_.write([probe = probe_](Store& store) { probe->write(store); },
                  [probe = probe_](const Result<>& written) { probe->end(written); }, true);
    stop_.wait_for(lock, kLookEvery, [&] { return stopping_; });
  }
}

std::string Health::store_problem() const {
  {
    const std::lock_guard lock(probe_->mutex);
    if (probe_->under_way && Clock::now() - probe_->began > kPatience)
      return fmt::format(
          "the store has not answered for {} s",
          std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - probe_->began).count());
    if (!probe_->problem.empty()) return probe_->problem;
  }
  return live_.store_problem();
}

std::vector<Health::Check> Health::checks() const {
  std::vector<Check> all{{"store", store_problem()}};
  const std::lock_guard lock(mutex_);
  for (const auto& [name, problem] : parts_) all.push_back({name, problem()});
  return all;
}

}  // namespace edict::server
