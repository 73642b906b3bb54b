#include "front/server/shards/replays.h"

#include <algorithm>

#include "base/error.h"
#include "base/not_finite.h"

namespace edict::server {
namespace {

constexpr std::size_t kTogether = 64;  // streams that are absorbed again at the same time

}  // namespace

Replays::Replays(LiveContext& context, std::unique_ptr<Store> store)
    : context_(context),
      absorption_(context),
      engine_(context.model, context.settings.guard),
      store_(std::move(store)) {}

void Replays::start(std::function<void(std::unique_ptr<Replay>)> over) {
  over_ = std::move(over);
  thread_ = std::thread([this] { run(); });
}

void Replays::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  came_.notify_all();
  thread_.join();
}

void Replays::add(std::unique_ptr<Replay> replay) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(replay));
  }
  came_.notify_one();
}

void Replays::run() {
  std::vector<std::unique_ptr<Replay>> active;
  std::vector<Replay*> moving;
  // A store that cannot be read is the answer to this replay, and no reason to end.
  const auto attempt = [](Replay& replay, const auto& what) {
    try {
      return replay.problem.empty() && what();
    } catch (const std::exception& e) {
      replay.problem = e.what();
      return false;
    }
  };
  while (true) {
    const std::size_t had = active.size();
    take_more(active);
    if (active.empty()) return;
    moving.clear();
    for (std::size_t i = 0; i < active.size(); ++i) {
      std::unique_ptr<Replay>& replay = active[i];
      if (i >= had) attempt(*replay, [&] { return prepare(*replay), true; });
      if (attempt(*replay, [&] { return next_event(*replay); }))
        moving.push_back(replay.get());
      else
        over_(std::move(replay));
    }
    std::erase(active, nullptr);
    if (!moving.empty()) absorb_next(moving);
  }
}

// Waits where nothing is under way; nothing is left then only at the end.
void Replays::take_more(std::vector<std::unique_ptr<Replay>>& active) {
  std::unique_lock lock(mutex_);
  if (active.empty()) came_.wait(lock, [&] { return !waiting_.empty() || stopping_; });
  for (; !waiting_.empty() && active.size() < kTogether; waiting_.pop_front())
    active.push_back(std::move(waiting_.front()));
}

void Replays::prepare(Replay& replay) {
  StreamPast& past = replay.past;
  replay.through = context_.committed;
  absorption_.restore(*store_, past, replay.before);
  if (!replay.knows_checkpoints)
    replay.checkpoints.set_kept(store_->states(past.id, context_.fingerprint));
  if (replay.here && replay.here->time > past.time) {
    Absorption::resume(past, *replay.here);
    replay.from = past.time;
  }
  replay.checkpoints.drop_from(replay.before);
  replay.events = std::make_unique<StoredEvents>(context_, *store_, past.id, past.time, kInfinity);
}

// Whether there is another event; the state is then ready for it.
bool Replays::next_event(Replay& replay) {
  StreamPast& past = replay.past;
  if (!replay.events->next()) {
    past.outside = absorption_.levels(engine_, past);
    return false;
  }
  if (replay.checkpoints.wants(past.events))
    replay.checkpoints.add(
        {past.time, past.first, past.events, past.received, past.state.to_bytes()});
  if (past.events == 0) absorption_.begin(engine_, past, replay.events->time());
  for (const KeptValue& value : replay.events->values())
    past.received = std::max(past.received, value.received);
  past.before = past.state;
  return true;
}

// The next event of each.
void Replays::absorb_next(const std::vector<Replay*>& replays) {
  std::vector<StreamEngine::Event> events;
  events.reserve(replays.size());
  for (Replay* replay : replays)
    events.push_back({&replay->past.state,
                      context_.clock.model_time(replay->events->time(), replay->past.first),
                      replay->events->observed()});
  context_.counters.replayed_events += replays.size();
  bool together = true;
  try {
    engine_.observe(events);
  } catch (const std::exception&) {
    together = false;
  }
  for (Replay* replay : replays) {
    StreamPast& past = replay->past;
    StoredEvents& stored = *replay->events;
    if (together) {
      past.fault.clear();
      past.before_time = past.time;
      past.time = stored.time();
      past.newest = stored.observed();
      ++past.events;
      continue;
    }
    past.state = past.before;
    try {
      absorption_.absorb_one(engine_, past, stored.time(), stored.observed(), &replay->left);
    } catch (const std::exception& e) {
      replay->problem = e.what();
    }
  }
}

}  // namespace edict::server
