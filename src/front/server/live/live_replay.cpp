// Live, apart from the shards: streams that are absorbed again, and questions.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ask/distribution.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/not_finite.h"
#include "front/server/live/live_parts.h"

namespace edict::server {
namespace {

constexpr std::size_t kReadAtOnce = 20000;  // values of one stream
constexpr std::size_t kTogether = 64;       // streams that are absorbed again at the same time

// What a state and its stream's checkpoints go on from.
void resume(StreamPast& past, const KeptState& kept) {
  past.state = StreamState::from_bytes(kept.bytes);
  past.before = past.state;
  past.first = kept.first;
  past.events = kept.events;
  past.received = kept.received;
  past.time = past.before_time = kept.time;
}

void forget(StreamPast& past) {
  past.state = past.before = {};
  past.newest.clear();
  past.outside.clear();
  past.fault.clear();
  past.first = 0;
  past.time = past.before_time = -kInfinity;
  past.received = 0;
  past.events = 0;
}

}  // namespace

void put_in(std::vector<Observation>& observed, const Observation& o) {
  const auto place = std::lower_bound(
      observed.begin(), observed.end(), o,
      [](const Observation& a, const Observation& b) { return a.feature < b.feature; });
  if (place != observed.end() && place->feature == o.feature)
    place->value = o.value;
  else
    observed.insert(place, o);
}

bool StoredEvents::next() {
  while (true) {
    if (at_ == values_.size()) {
      if (all_) return false;
      values_ = store_.values(stream_, after_, until_, kReadAtOnce);
      begins_ = at_ = 0;
      all_ = values_.size() < kReadAtOnce;
      // What may go on behind the last one read is read again.
      if (!all_ && values_.front().time != values_.back().time) {
        const double last = values_.back().time;
        while (values_.back().time == last) values_.pop_back();
      }
      if (values_.empty()) return false;
    }
    begins_ = at_;
    after_ = values_[at_].time;
    observed_.clear();
    for (; at_ < values_.size() && values_[at_].time == after_; ++at_) {
      // What another model knew is kept, and not seen by this one.
      const std::int32_t feature = live_.model_feature(values_[at_].feature);
      if (feature >= 0) put_in(observed_, {feature, values_[at_].value});
    }
    if (!observed_.empty()) return true;
  }
}

// ---- one event ----

void Live::begin(StreamEngine& engine, StreamPast& past, double first) const {
  // Where the beginning was removed under another model its clock still counts from there.
  past.first = std::isnan(past.removed_first) ? first : past.removed_first;
  const std::span<const double> statics =
      past.about ? std::span<const double>(past.about->statics) : std::span<const double>();
  past.state = engine.begin(clock_.start(clock_.model_time(past.first, past.first)), statics);
}

// Values that cannot be absorbed are left out, the others of the event are not: a rule that depends
// on state and event alone, so that every replay finds the same.
void Live::absorb_one(StreamEngine& engine, StreamPast& past, double raw,
                      std::vector<Observation>& observed, std::vector<LeftOut>* left) const {
  if (past.events == 0) begin(engine, past, raw);
  StreamState before = past.state;
  const double time = clock_.model_time(raw, past.first);
  const auto attempt = [&](std::span<const Observation> values) -> std::string {
    const StreamEngine::Event event{&past.state, time, values};
    try {
      engine.observe({&event, 1});
      return {};
    } catch (const Error& e) {
      return e.what();
    }
  };
  std::string why = attempt(observed);
  if (!why.empty()) {
    ++counters_.faults;
    past.fault = why;
    std::vector<Observation> good;
    const auto leave_out = [&](const Observation& o, const std::string& reason) {
      if (left) left->push_back({nullptr, raw, o.feature, reason});
    };
    for (const Observation& o : observed) {
      const std::string alone = attempt({&o, 1});
      if (alone.empty()) {
        good.push_back(o);
        past.state = before;
      } else {
        leave_out(o, alone);
      }
    }
    why = good.empty() ? why : attempt(good);
    if (!why.empty()) {
      for (const Observation& o : good) leave_out(o, why);
      return;
    }
    observed = std::move(good);
  } else {
    past.fault.clear();
  }
  past.before = std::move(before);
  past.before_time = past.time;
  past.time = raw;
  past.newest = observed;
  ++past.events;
}

// How far outside of what was expected before it the newest event lies.
std::vector<Outside> Live::levels(StreamEngine& engine, const StreamPast& past) const {
  std::vector<Outside> list;
  if (past.newest.empty() || past.events == 0) return list;
  const StreamEngine::Question question{&past.before, clock_.model_time(past.time, past.first)};
  try {
    const std::span<const Marginal> expected = engine.distribution({&question, 1});
    for (const Observation& o : past.newest)
      list.push_back({o.feature,
                      central_level(expected[static_cast<std::size_t>(o.feature)], o.value),
                      o.value});
  } catch (const Error&) {
    // The event itself was absorbed; only what was expected of it is not known.
  }
  return list;
}

StreamEngine::Question Live::question(const StreamPast& past, double time) const {
  const double last = past.state.time(), gap = clock_.raw_duration(time - last);
  const double raw = clock_.raw_of_model_time(time, past.first);
  if (gap > clock_.longest_gap() || !clock_.resolves(raw))
    throw Error(fmt::format(
        "stream '{}': {} lies {} after its newest observation, further than the model can look "
        "ahead",
        past.name, clock_.shown(raw), gap_text(gap)));
  return {&past.state, std::max(last, time)};
}

// ---- a stream's past ----

void Live::restore(Access access, StreamPast& past, double before) const {
  forget(past);
  if (const auto kept = access.store.newest_state(past.id, fingerprint_, before)) {
    try {
      resume(past, *kept);
    } catch (const Error&) {
      forget(past);  // damaged: from the beginning, then
    }
  }
}

void Live::replay(Access access, StreamPast& past, double until, const Visit& visit) const {
  StoredEvents events(*this, access.store, past.id, past.time, until);
  while (events.next()) {
    if (past.events == 0) begin(access.engine, past, events.time());
    visit(events.time(), events.observed(), events.values());
    absorb_one(access.engine, past, events.time(), events.observed(), nullptr);
  }
}

void Live::prepare(Access access, Replay& replay) {
  StreamPast& past = replay.past;
  replay.through = committed_;
  restore(access, past, replay.before);
  if (!replay.knows_checkpoints)
    replay.checkpoints.set_kept(access.store.states(past.id, fingerprint_));
  if (replay.here && replay.here->time > past.time) {
    resume(past, *replay.here);
    replay.from = past.time;
  }
  replay.checkpoints.drop_from(replay.before);
  replay.events =
      std::make_unique<StoredEvents>(*this, access.store, past.id, past.time, kInfinity);
}

// Whether there is another event; the state is then ready for it.
bool Live::next_event(Access access, Replay& replay) {
  StreamPast& past = replay.past;
  if (!replay.events->next()) {
    past.outside = levels(access.engine, past);
    return false;
  }
  if (replay.checkpoints.wants(past.events))
    replay.checkpoints.add(
        {past.time, past.first, past.events, past.received, past.state.to_bytes()});
  if (past.events == 0) begin(access.engine, past, replay.events->time());
  for (const KeptValue& value : replay.events->values())
    past.received = std::max(past.received, value.received);
  past.before = past.state;
  return true;
}

// The next event of each.
void Live::absorb_next(Access access, const std::vector<Replay*>& replays) {
  std::vector<StreamEngine::Event> events;
  events.reserve(replays.size());
  for (Replay* replay : replays)
    events.push_back({&replay->past.state,
                      clock_.model_time(replay->events->time(), replay->past.first),
                      replay->events->observed()});
  counters_.replayed_events += replays.size();
  bool together = true;
  try {
    access.engine.observe(events);
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
      absorb_one(access.engine, past, stored.time(), stored.observed(), &replay->left);
    } catch (const std::exception& e) {
      replay->problem = e.what();
    }
  }
}

// Streams wait for one thread, which takes an event of each in turn: one that has far to go makes
// the others wait for no more than its share of a batch.
void Live::run_replays() {
  const Access access{replayer_->engine, *replayer_->store, *this};
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
    {
      std::unique_lock lock(replayer_->mutex);
      if (active.empty())
        replayer_->came.wait(lock, [&] { return !replays_.empty() || replayer_->stopping; });
      if (active.empty() && replays_.empty()) return;
      for (; !replays_.empty() && active.size() < kTogether; replays_.pop_front())
        active.push_back(std::move(replays_.front()));
    }
    moving.clear();
    for (std::size_t i = 0; i < active.size(); ++i) {
      std::unique_ptr<Replay>& replay = active[i];
      if (i >= had) attempt(*replay, [&] { return prepare(access, *replay), true; });
      if (attempt(*replay, [&] { return next_event(access, *replay); })) {
        moving.push_back(replay.get());
        continue;
      }
      Shard& shard = *shards_[replay->stream->shard];
      post(shard, [ended = std::shared_ptr<Replay>(std::move(replay))](Access own, Shard& at) {
        own.live.end_replay(at, *ended);
      });
    }
    std::erase(active, nullptr);
    if (!moving.empty()) absorb_next(access, moving);
  }
}

// ---- questions ----

void Live::post(Worker& worker, std::function<void(Access)> task) {
  {
    const std::lock_guard lock(worker.mutex);
    worker.tasks.push_back(std::move(task));
  }
  worker.came.notify_one();
}

void Live::run_worker(Worker& worker) {
  const Access access{worker.engine, *worker.store, *this};
  while (true) {
    std::function<void(Access)> task;
    {
      std::unique_lock lock(worker.mutex);
      worker.came.wait(lock, [&] { return !worker.tasks.empty() || worker.stopping; });
      if (worker.tasks.empty()) return;
      task = std::move(worker.tasks.front());
      worker.tasks.pop_front();
    }
    try {
      task(access);
    } catch (const std::exception&) {
      ++counters_.faults;  // of one question; the others must not suffer
    }
  }
}

void Live::aside(std::function<void(Access)> task) { post(*aside_, std::move(task)); }

void Live::on_stream(const std::string& name, std::function<void(Access, LiveStream*)> task) {
  ++asides_;
  const std::size_t at = hash_of(name) % shards_.size();
  post(*shards_[at], [this, name, task = std::move(task)](Access, Shard& shard) {
    const auto ask = [this, task](LiveStream* stream) {
      const std::shared_ptr<LiveStream> copy = stream ? stream->snapshot() : nullptr;
      post(*questions_[next_question_++ % questions_.size()], [this, task, copy](Access access) {
        try {
          task(access, copy.get());
        } catch (const std::exception&) {
          ++counters_.faults;
        }
        --asides_;
      });
    };
    const auto found = shard.streams.find(name);
    if (found == shard.streams.end()) return ask(nullptr);
    const std::shared_ptr<LiveStream> held = found->second;
    if (!held->loaded && !held->busy) start_replay(held, kInfinity);
    when_ready(held, ask);
  });
}

}  // namespace edict::server
