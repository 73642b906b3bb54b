// Something to watch: a model that is trained on invented patients within seconds, and a ward of
// others whose monitors feed a live server, with all the faults of real ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/threads/thread_pool.h"
#include "front/server/live/live.h"

namespace edict::server {

struct DemoSettings {
  std::size_t streams = 24;
  double training_seconds = 15;
  std::uint64_t seed = 1;
};

// A small model of the ward. `on_epoch` is told how many epochs are done, of how many.
Model train_demo_model(const DemoSettings& settings, ThreadPool& pool,
                       const std::function<void(std::int64_t, std::int64_t)>& on_epoch);

// Alarms that suit the ward, as PUT /v1/rules takes them.
std::string demo_rules();

// What the monitors have sent so far.
struct DemoCounts {
  std::atomic<std::size_t> rounds{0}, late{0}, doubled{0}, wrong{0}, corrected{0}, refused{0};
};

// The ward, in a thread of its own: the last three quarters of an hour at once, and from then on as
// time passes.
class DemoWard {
 public:
  DemoWard(Live& live, const DemoSettings& settings);
  ~DemoWard();
  DemoWard(const DemoWard&) = delete;
  DemoWard& operator=(const DemoWard&) = delete;

  const DemoCounts& counts() const;

 private:
  struct Monitors;
  std::unique_ptr<Monitors> monitors_;
};

}  // namespace edict::server
