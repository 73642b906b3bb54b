// Shards, where streams go away to be absorbed again and come back.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/not_finite.h"
#include "front/server/shards/shards.h"

namespace edict::server {

void Shards::start_replay(const std::shared_ptr<LiveStream>& stream, double before) {
  stream->checkpoints.drop_from(before);
  if (stream->busy) {
    stream->again = std::min(stream->again, before);
    return;
  }
  auto replay = std::make_unique<Replay>();
  replay->stream = stream;
  replay->before = before;
  replay->knows_checkpoints = stream->loaded;
  if (stream->loaded) {
    if (const KeptState* here = stream->checkpoints.newest_here(before)) replay->here = *here;
    replay->known = stream->through;
    replay->checkpoints = stream->checkpoints;
  }
  replay->checkpoints.set_base(stream->pruned);
  replay->past.id = stream->id;
  replay->past.name = stream->name;
  replay->past.about = stream->about;
  replay->past.removed_first = stream->removed_first;
  stream->busy = true;
  ++context_.asides;
  replays_.add(std::move(replay));
}

void Shards::end_replay(Shard& shard, Replay& replay) {
  const std::shared_ptr<LiveStream> stream = replay.stream;
  const std::shared_ptr<void> over(nullptr, [this](void*) { --context_.asides; });
  stream->busy = false;
  if (stream->gone) {
    // What waited is durable, and the stream is no longer what it was.
    for (const auto& waiting : stream->waiting) waiting->group->release(context_);
    stream->waiting.clear();
  } else if (!replay.problem.empty()) {
    // The store did not answer; the next question tries again.
    ++context_.counters.store_failures;
    stream->loaded = false;
    stream->again = kInfinity;
    stream->events = 0;  // what is in memory lacks what came
    stream->fault = replay.problem;
    shard.watchful.insert(stream.get());
    fail_waiting(*stream, replay.problem);
  } else {
    take_back(shard, stream, replay);
  }
  if (stream->busy) return;
  std::vector<std::function<void(LiveStream*)>> tasks;
  tasks.swap(stream->tasks);
  for (const auto& task : tasks) task(stream->gone ? nullptr : stream.get());
}

// The stream is what the replay has made of it, and what came meanwhile follows.
void Shards::take_back(Shard& shard, const std::shared_ptr<LiveStream>& stream, Replay& replay) {
  const double came = std::max(stream->received, replay.past.received);
  replay.past.about = stream->about;  // may have been changed meanwhile
  static_cast<StreamPast&>(*stream) = std::move(replay.past);
  stream->received = std::min(came, context_.now());  // the clock may have been set back
  stream->checkpoints = std::move(replay.checkpoints);
  stream->checkpoints.set_base(stream->pruned);
  stream->outside_judged = false;
  stream->loaded = true;
  stream->through = replay.from > -kInfinity ? replay.known : replay.through;
  settle(*stream, replay);
  const double again = std::exchange(stream->again, kInfinity);
  if (again < kInfinity)
    start_replay(stream, again);
  else
    catch_up(shard, stream);
  keeper_.keep(*stream);
  if (stream->busy) return;
  keeper_.prune(*stream);
  if (!shard.rules->empty() || !stream->alarms.empty() || !stream->fault.empty())
    shard.watchful.insert(stream.get());
  if (context_.events.watched()) publish(*stream);
}

// What came meanwhile, in order.
void Shards::catch_up(Shard& shard, const std::shared_ptr<LiveStream>& stream) {
  std::vector<LiveStream*> one;
  if (!stream->coming.empty()) one.push_back(stream.get());
  std::vector<std::shared_ptr<LiveStream::Waiting>> waiting;
  waiting.swap(stream->waiting);
  const std::vector<LeftOut> left =
      absorption_.absorb_coming(shard.engine, one, judges_outside(shard));
  for (const auto& own : waiting) end_waiting(*own, left);
}

// Of what waited, that which the replay has seen is over. What came later is put where it belongs,
// or `again` says from where the stream must be absorbed once more.
void Shards::settle(LiveStream& stream, const Replay& replay) {
  std::vector<std::shared_ptr<LiveStream::Waiting>> rest;
  for (auto& waiting : stream.waiting) {
    stream.through = std::max(stream.through, waiting->commit);
    // A state from memory was gone on from that is older than what was read from the store.
    const bool before_state = waiting->item.time <= replay.from && waiting->commit > replay.known;
    if (waiting->commit > replay.through || before_state)
      rest.push_back(std::move(waiting));
    else
      end_waiting(*waiting, replay.left);
  }
  stream.waiting = std::move(rest);
  for (const auto& waiting : stream.waiting) {
    const Item& item = waiting->item;
    if (item.put == Put::unchanged) continue;
    if (item.time > stream.time && is_near(stream, item.time))
      put_event(stream.coming, item.time, item.observation);
    else
      stream.again = std::min(stream.again, item.time);
  }
  if (stream.again < kInfinity) stream.coming.clear();
}

void Shards::end_waiting(const LiveStream::Waiting& waiting, const std::vector<LeftOut>& left) {
  const Item& item = waiting.item;
  const auto bad = std::ranges::find_if(left, [&](const LeftOut& one) {
    return one.time == item.time && one.feature == item.observation.feature;
  });
  if (bad != left.end() && item.put != Put::unchanged)
    refuse(item.stream, item, bad->why);
  else
    waiting.group->release(context_);
}

void Shards::fail_waiting(LiveStream& stream, const std::string& why) {
  for (const auto& waiting : stream.waiting) {
    waiting->group->fail(
        fmt::format("stream '{}': {}; the values are stored, but the stream could not be read: "
                    "send them again",
                    stream.name, why));
    waiting->group->release(context_);
  }
  stream.waiting.clear();
}

// A value that is durable and cannot be absorbed: it goes to the rejected ones, and its request is
// told so. It is a part of its group.
void Shards::refuse(const std::shared_ptr<LiveStream>& stream, const Item& item,
                    const std::string& why) {
  const std::int32_t feature = item.observation.feature;
  const double shown = context_.clock.shown(item.time);
  const std::string detail =
      fmt::format("stream '{}': time {}: '{}' = {} cannot be absorbed: {}", stream->name, shown,
                  context_.feature_name(feature), item.observation.value, why);
  const std::string payload =
      context_.row_text(stream->name, shown, feature, item.observation.value);
  auto corrected = std::make_shared<bool>(false);
  ++context_.counters.rejected;
  const auto take_back =
      [stream, item, detail, payload, corrected,
       kept = context_.store_feature[static_cast<std::size_t>(feature)]](Transaction& transaction) {
        Store& store = transaction.store();
        *corrected = false;
        if (!stream->written.removed) {
          *corrected = store.take_back(stream->id, item.time, kept, item.observation.value);
          transaction.touch(stream).newest = kNaN;
          // Kept states have left it out; the value that stands again they have not seen.
          if (*corrected) transaction.change_past(stream, item.time);
        }
        store.add_rejected({item.received, "observations", detail, payload});
      };
  writer_.change(take_back, [this, stream, detail, corrected, line = item.line, put = item.put,
                             time = item.time,
                             group = item.group->shared_from_this()](const Result<>& written) {
    if (!written) {
      group->fail(written.failure().text);
    } else {
      const std::lock_guard lock(group->mutex);
      --group->outcome.stored;
      group->outcome.corrected -= put == Put::corrected;
      group->outcome.refused.add({line, "values", detail});
      ++group->outcome.refused.kept;
    }
    if (!written || !*corrected) return group->release(context_);
    post(stream->shard, [this, stream, time, group](Access, Shard&) {
      if (!stream->gone) start_replay(stream, time);
      when_ready(stream, [this, group](LiveStream*) { group->release(context_); });
    });
  });
}

}  // namespace edict::server
