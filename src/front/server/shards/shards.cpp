#include "front/server/shards/shards.h"

#include <algorithm>
#include <chrono>

#include "base/not_finite.h"

namespace edict::server {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

}  // namespace

Shards::Shards(LiveContext& context, Live& live, const Registry& registry, Writer& writer,
               AlarmWatch& alarms)
    : context_(context),
      live_(live),
      writer_(writer),
      alarms_(alarms),
      absorption_(context),
      keeper_(context, registry, writer),
      replays_(context, writer.store().another()) {
  for (std::size_t i = 0; i < registry.n_shards(); ++i)
    shards_.push_back(std::make_unique<Shard>(context, writer.store().another()));
}

void Shards::start() {
  replays_.start([this](std::unique_ptr<Replay> replay) {
    const std::size_t shard = replay->stream->shard;
    post(shard, [this, ended = std::shared_ptr<Replay>(std::move(replay))](Access, Shard& at) {
      end_replay(at, *ended);
    });
  });
  for (auto& shard : shards_) shard->thread = std::thread([this, &shard = *shard] { run(shard); });
}

void Shards::stop() {
  for (auto& shard : shards_) {
    if (!shard->thread.joinable()) continue;
    {
      const std::lock_guard lock(shard->mutex);
      shard->stopping = true;
    }
    shard->came.notify_all();
    shard->thread.join();
  }
}

// ---- any thread ----

void Shards::deliver(std::size_t number, Job job) {
  Shard& shard = *shards_[number];
  {
    const std::lock_guard lock(shard.mutex);
    shard.queue.push_back(std::move(job));
  }
  shard.came.notify_one();
}

void Shards::post(std::size_t shard, std::function<void(Access, Shard&)> task) {
  Job job;
  job.task = std::move(task);
  deliver(shard, std::move(job));
}

void Shards::on_every(std::function<void(Access, Streams&, std::size_t)> task) {
  auto remaining = std::make_shared<std::atomic<std::size_t>>(shards_.size());
  auto shared = std::make_shared<decltype(task)>(std::move(task));
  for (std::size_t i = 0; i < shards_.size(); ++i)
    post(i, [remaining, shared](Access access, Shard& own) {
      // Counted before the task runs one at a time, so that exactly one of them is the last.
      static std::mutex one_at_a_time;
      const std::lock_guard lock(one_at_a_time);
      (*shared)(access, own.streams, --*remaining);
    });
}

// ---- the thread of a shard ----

void Shards::run(Shard& shard) {
  const Access access{shard.engine, *shard.store, live_};
  for (std::vector<Job> jobs; next_jobs(shard, jobs);) {
    // Whatever fails is of one request, one question or one look; the others must not suffer.
    try {
      if (!jobs.empty() && jobs.front().task)
        jobs.front().task(access, shard);
      else if (!jobs.empty())
        absorb(shard, jobs);
      look_after(shard);
    } catch (const std::exception&) {
      ++context_.counters.faults;
    }
  }
}

// One task, or everything that has come before the next one; none after a while without any. False
// at the end.
bool Shards::next_jobs(Shard& shard, std::vector<Job>& jobs) {
  jobs.clear();
  std::unique_lock lock(shard.mutex);
  shard.came.wait_for(lock, kTick, [&] { return !shard.queue.empty() || shard.stopping; });
  if (shard.queue.empty() && shard.stopping) return false;
  while (!shard.queue.empty()) {
    const bool is_task = static_cast<bool>(shard.queue.front().task);
    if (is_task && !jobs.empty()) break;
    jobs.push_back(std::move(shard.queue.front()));
    shard.queue.pop_front();
    if (is_task) break;
  }
  return true;
}

// Alarms that wait for time to pass.
void Shards::look_after(Shard& shard) {
  const auto steady = std::chrono::steady_clock::now();
  if (steady - shard.looked < kTick) return;
  shard.looked = steady;
  const double present = context_.now();
  std::vector<LiveStream*> due;
  for (LiveStream* stream : shard.watchful) {
    // Of a stream that has been silent for long little changes from one look to the next.
    const double pause = std::max(context_.settings.alarm_interval,
                                  std::min(60.0, (stream->judged - stream->received) / 100));
    if (present - stream->judged >= pause || present < stream->judged) due.push_back(stream);
  }
  if (!due.empty()) load(alarms_.judge(shard, due, present));
  load(alarms_.judge_silence(shard, present));
}

void Shards::load(const AlarmWatch::Unread& streams) {
  for (const auto& stream : streams) start_replay(stream, kInfinity);
}

void Shards::list(Shard& shard, const std::shared_ptr<LiveStream>& stream) {
  if (stream->listed) return;
  stream->listed = true;
  shard.streams.try_emplace(stream->name, stream);
}

void Shards::when_ready(const std::shared_ptr<LiveStream>& stream,
                        std::function<void(LiveStream*)> task) {
  if (stream->busy)
    stream->tasks.push_back(std::move(task));
  else
    task(stream->gone ? nullptr : stream.get());
}

}  // namespace edict::server
