// Shards, where values come in: what is in order is absorbed, and what is not is sent elsewhere.
#include <fmt/core.h>

#include <algorithm>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "base/text/number_text.h"
#include "front/server/shards/shards.h"

namespace edict::server {

void put_event(std::vector<LiveStream::Event>& events, double time, const Observation& o) {
  auto at =
      std::lower_bound(events.begin(), events.end(), time,
                       [](const LiveStream::Event& event, double t) { return event.time < t; });
  if (at == events.end() || at->time != time) at = events.insert(at, {time, {}});
  put_in(at->observed, o);
}

void Shards::absorb(Shard& shard, std::vector<Job>& jobs) {
  std::vector<LiveStream*> touched;
  try {
    sort_in(shard, jobs, touched);
    std::vector<LiveStream*> in_order;
    for (LiveStream* stream : touched)
      if (!stream->coming.empty()) in_order.push_back(stream);
    refuse_left_out(absorption_.absorb_coming(shard.engine, in_order, judges_outside(shard)), jobs);
    look_at(shard, touched);
  } catch (const std::exception& e) {
    fail(touched, jobs, e.what());
  }
  for (Job& job : jobs)
    for (const auto& group : job.groups) group->release(context_);
}

bool Shards::judges_outside(const Shard& shard) {
  return std::ranges::any_of(*shard.rules,
                             [](const Rule& rule) { return rule.kind == Rule::Kind::outside; });
}

void Shards::refuse_left_out(const std::vector<LeftOut>& left, std::vector<Job>& jobs) {
  for (const LeftOut& one : left)
    for (Job& job : jobs)
      for (Item& item : job.items)
        if (item.stream.get() == one.stream && item.time == one.time &&
            item.observation.feature == one.feature && item.put != Put::unchanged) {
          ++item.group->parts;
          refuse(item.stream, item, one.why);
        }
}

// What follows from what was absorbed: states are kept, alarms judged, watchers served.
void Shards::look_at(Shard& shard, const std::vector<LiveStream*>& touched) {
  const double present = context_.now();
  std::vector<LiveStream*> due;
  for (LiveStream* stream : touched) {
    if (stream->busy || stream->gone) continue;
    if (stream->checkpoints.has_unwritten()) {
      keeper_.keep(*stream);
      keeper_.prune(*stream);
    }
    if (shard.rules->empty() && stream->alarms.empty() && stream->fault.empty()) continue;
    shard.watchful.insert(stream);
    if (present - stream->judged >= context_.settings.alarm_interval) due.push_back(stream);
  }
  if (!due.empty()) load(alarms_.judge(shard, due, present));
  if (!context_.events.watched()) return context_.events.skip();
  for (LiveStream* stream : touched) publish(*stream);
}

// Memory ran out, most likely: what the store has is read again when it is next needed.
void Shards::fail(const std::vector<LiveStream*>& touched, std::vector<Job>& jobs,
                  const std::string& why) {
  ++context_.counters.faults;
  for (LiveStream* stream : touched) {
    stream->coming.clear();
    stream->loaded = false;
    if (!stream->busy) fail_waiting(*stream, why);
  }
  for (Job& job : jobs)
    for (const auto& group : job.groups) group->fail(why);
}

// Whether the shard's thread reaches a later event soon. After a long gap a replay does that.
bool Shards::is_near(const LiveStream& stream, double raw) const {
  constexpr double kShare = 0.001;  // of the longest gap
  if (stream.events == 0 && stream.coming.empty()) return true;
  const double last = stream.coming.empty() ? stream.time : stream.coming.back().time;
  return raw - last <= kShare * context_.clock.longest_gap();
}

// What is to be absorbed in order comes into `coming`; what is not waits for a replay.
void Shards::sort_in(Shard& shard, std::vector<Job>& jobs, std::vector<LiveStream*>& touched) {
  std::unordered_set<LiveStream*> seen;
  std::vector<std::shared_ptr<LiveStream>> elsewhere;
  for (Job& job : jobs)
    for (Item& item : job.items) {
      LiveStream& stream = *item.stream;
      if (stream.gone) continue;
      if (seen.insert(&stream).second) {
        touched.push_back(&stream);
        meet(shard, item, elsewhere);
      }
      stream.received = std::max(stream.received, item.received);
      if (!stream.busy) stream.through = job.commit;
      if (item.put == Put::unchanged || !stream.loaded) continue;
      if (!place(item)) elsewhere.push_back(item.stream);
    }
  if (!elsewhere.empty()) send_elsewhere(jobs, elsewhere);
}

// A stream that is the first time in the batch at hand.
void Shards::meet(Shard& shard, const Item& item,
                  std::vector<std::shared_ptr<LiveStream>>& elsewhere) {
  LiveStream& stream = *item.stream;
  list(shard, item.stream);
  stream.late_from = kInfinity;
  if (stream.busy || !stream.loaded) elsewhere.push_back(item.stream);
}

// Whether the stream stays here: false for the first of its values that a replay must absorb.
bool Shards::place(Item& item) {
  LiveStream& stream = *item.stream;
  const auto count_late = [&] {
    if (item.time >= stream.time) return;
    ++item.group->late;
    ++context_.counters.late;
  };
  if (stream.busy || stream.late_from < kInfinity) {
    count_late();
    stream.late_from = std::min(stream.late_from, item.time);
    return true;
  }
  if (item.time > stream.time && is_near(stream, item.time)) {
    put_event(stream.coming, item.time, item.observation);
    return true;
  }
  if (item.time == stream.time && !stream.newest.empty()) {
    // Another value of the newest event: back to what was before it.
    put_in(stream.newest, item.observation);
    stream.coming.insert(stream.coming.begin(), {stream.time, std::move(stream.newest)});
    stream.newest.clear();
    stream.state = stream.before;
    stream.time = stream.before_time;
    --stream.events;
    return true;
  }
  count_late();
  stream.late_from = item.time;
  return false;
}

// Everything of these streams waits.
void Shards::send_elsewhere(std::vector<Job>& jobs,
                            const std::vector<std::shared_ptr<LiveStream>>& streams) {
  std::unordered_set<LiveStream*> gathered;
  for (const auto& stream : streams) gathered.insert(stream.get());
  for (Job& job : jobs)
    for (Item& item : job.items) {
      if (!gathered.contains(item.stream.get())) continue;
      auto waiting = std::make_shared<LiveStream::Waiting>();
      *waiting = {item, item.group->shared_from_this(), job.commit};
      ++item.group->parts;
      item.stream->waiting.push_back(std::move(waiting));
    }
  for (const auto& stream : streams) {
    stream->coming.clear();
    stream->replayed = stream->loaded;
    if (stream->busy) continue;
    if (stream->loaded) ++context_.counters.replays;
    start_replay(stream, stream->loaded ? stream->late_from : kInfinity);
  }
}

void Shards::publish(LiveStream& stream) {
  if (stream.events == 0 || stream.busy || stream.gone) return;
  std::string text = "{\"stream\":" + json_text(nlohmann::json(stream.name)) + ",\"time\":";
  append_shortest(text, context_.clock.shown(stream.time));
  text += fmt::format(",\"received\":{:.3f},\"values\":{{", stream.received);
  for (const Observation& o : stream.newest) {
    if (text.back() != '{') text += ',';
    text +=
        json_text(nlohmann::json(context_.model->features[static_cast<std::size_t>(o.feature)])) +
        ":";
    append_shortest(text, o.value);
  }
  text += fmt::format("}},\"urgency\":{:.4g},\"replayed\":{}}}", stream.urgency(),
                      stream.replayed ? "true" : "false");
  stream.replayed = false;
  context_.events.publish("stream", stream.name, std::move(text), true);
}

}  // namespace edict::server
