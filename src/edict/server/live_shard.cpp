// Live, where streams are: what came is absorbed, late or in order.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "edict/core/hash.h"
#include "edict/core/json.h"
#include "edict/core/json_text.h"
#include "edict/core/not_finite.h"
#include "edict/core/number_text.h"
#include "edict/server/live_parts.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr std::int32_t kKeepEvery = 32;     // events between two kept states
constexpr std::size_t kReadAtOnce = 20000;  // values of one stream
constexpr auto kTick = std::chrono::milliseconds(100);

void put_in(std::vector<Observation>& observed, const Observation& o) {
  const auto place = std::lower_bound(
      observed.begin(), observed.end(), o,
      [](const Observation& a, const Observation& b) { return a.feature < b.feature; });
  if (place != observed.end() && place->feature == o.feature)
    place->value = o.value;
  else
    observed.insert(place, o);
}

void put_in(std::vector<LiveStream::Event>& events, double time, const Observation& o) {
  auto at =
      std::lower_bound(events.begin(), events.end(), time,
                       [](const LiveStream::Event& event, double t) { return event.time < t; });
  if (at == events.end() || at->time != time) at = events.insert(at, {time, {}});
  put_in(at->observed, o);
}

}  // namespace

void Live::post(Shard& shard, std::function<void(Access, Shard&)> task) {
  Job job;
  job.task = std::move(task);
  {
    const std::lock_guard lock(shard.mutex);
    shard.queue.push_back(std::move(job));
  }
  shard.came.notify_one();
}

void Live::on_stream(const std::string& name, std::function<void(Access, LiveStream*)> task) {
  const std::size_t at = hash_of(name) % shards_.size();
  post(*shards_[at], [this, name, task = std::move(task)](Access access, Shard& shard) {
    const auto found = shard.streams.find(name);
    if (found == shard.streams.end()) return task(access, nullptr);
    const std::shared_ptr<LiveStream> held = found->second;
    load(access, *held);
    task(access, held.get());
  });
}

void Live::on_every_shard(std::function<void(Access, Streams&, std::size_t)> task) {
  auto remaining = std::make_shared<std::atomic<std::size_t>>(shards_.size());
  auto shared = std::make_shared<decltype(task)>(std::move(task));
  for (auto& shard : shards_)
    post(*shard, [remaining, shared](Access access, Shard& own) {
      // Counted before the task runs one at a time, so that exactly one of them is the last.
      static std::mutex one_at_a_time;
      const std::lock_guard lock(one_at_a_time);
      (*shared)(access, own.streams, --*remaining);
    });
}

void Live::aside(std::function<void(Access)> task) {
  post(*aside_, [task = std::move(task)](Access access, Shard&) { task(access); });
}

void Live::run_shard(Shard& shard) {
  const Access access{shard.engine, *shard.store, *this};
  while (true) {
    std::vector<Job> jobs;
    {
      std::unique_lock lock(shard.mutex);
      shard.came.wait_for(lock, kTick, [&] { return !shard.queue.empty() || shard.stopping; });
      if (shard.queue.empty() && shard.stopping) return;
      while (!shard.queue.empty()) {
        const bool task = static_cast<bool>(shard.queue.front().task);
        if (task && !jobs.empty()) break;
        jobs.push_back(std::move(shard.queue.front()));
        shard.queue.pop_front();
        if (task) break;
      }
    }
    if (!jobs.empty()) {
      if (!jobs.front().task) {
        absorb(shard, jobs);
      } else {
        try {
          jobs.front().task(access, shard);
        } catch (const std::exception&) {
          ++counters_.faults;  // of one question; the others must not suffer
        }
      }
    }
    const auto steady = std::chrono::steady_clock::now();
    if (steady - shard.looked < kTick) continue;
    shard.looked = steady;
    const double now = running_seconds();
    std::vector<LiveStream*> due;
    for (LiveStream* stream : shard.watchful)
      if (now - stream->judged >= settings_.alarm_interval || now < stream->judged)
        due.push_back(stream);
    if (!due.empty()) judge(shard, due, now);
    judge_silence(shard, now);
  }
}

void Live::absorb(Shard& shard, std::vector<Job>& jobs) {
  const Access access{shard.engine, *shard.store, *this};
  std::vector<LiveStream*> touched;
  std::unordered_set<LiveStream*> seen, again;  // again: to be read from the store
  for (Job& job : jobs)
    for (Item& item : job.items) {
      LiveStream& stream = *item.stream;
      if (seen.insert(&stream).second) {
        touched.push_back(&stream);
        if (stream.events == 0) shard.streams.try_emplace(stream.name, item.stream);
      }
      stream.received = std::max(stream.received, item.received);
      stream.through = job.commit;
      if (item.put == Put::unchanged) continue;
      if (!stream.loaded || !stream.fault.empty()) {
        again.insert(&stream);  // the store has all of it
        continue;
      }
      if (again.contains(&stream)) continue;
      if (item.time > stream.time) {
        put_in(stream.coming, item.time, item.observation);
      } else if (item.time == stream.time && !stream.newest.empty()) {
        // Another value of the newest event: back to what was before it.
        put_in(stream.newest, item.observation);
        stream.coming.insert(stream.coming.begin(), {stream.time, std::move(stream.newest)});
        stream.newest.clear();
        stream.state = stream.before;
        stream.time = stream.before_time;
        --stream.events;
      } else {
        ++item.group->late;
        ++counters_.late;
        again.insert(&stream);
      }
    }
  std::vector<LiveStream*> in_order;
  for (LiveStream* stream : touched) {
    if (!again.contains(stream)) {
      if (!stream->coming.empty()) in_order.push_back(stream);
      continue;
    }
    stream->coming.clear();
    stream->replayed = stream->loaded;
    if (stream->loaded) ++counters_.replays;
    rebuild(access, *stream);
  }
  absorb_events(shard, in_order);
  const double now = running_seconds();
  std::vector<LiveStream*> due;
  for (LiveStream* stream : touched) {
    if (stream->unkept >= kKeepEvery) {
      keep_state(*stream);
      prune(shard, *stream);
    }
    if (shard.rules->empty() && stream->alarms.empty()) continue;
    shard.watchful.insert(stream);
    if (now - stream->judged >= settings_.alarm_interval) due.push_back(stream);
  }
  if (!due.empty()) judge(shard, due, now);
  if (events_.watched())
    for (LiveStream* stream : touched) tell(*stream);
  else
    events_.skip();
  for (Job& job : jobs)
    for (const auto& group : job.groups) {
      // Every item of the group is in this job, whose absorption is over.
      if (group->shards.fetch_sub(1) != 1) continue;
      group->outcome.late = group->late;
      pending_ -= group->rows;
      group->done(group->outcome);
    }
}

// One event of each stream after the other, all streams together.
void Live::absorb_events(Shard& shard, std::vector<LiveStream*>& streams) {
  const bool outside = std::any_of(shard.rules->begin(), shard.rules->end(), [](const Rule& rule) {
    return rule.kind == Rule::Kind::outside;
  });
  std::vector<StreamEngine::Event> events;
  std::vector<StreamEngine::Question> questions;
  for (std::size_t round = 0; !streams.empty(); ++round) {
    events.clear();
    questions.clear();
    for (LiveStream* stream : streams) {
      const LiveStream::Event& event = stream->coming[round];
      if (stream->events == 0) begin(shard.engine, *stream, event.time);
      stream->before = stream->state;
      stream->before_time = stream->time;
      const double time = clock_.model_time(event.time, stream->first);
      events.push_back({&stream->state, time, event.observed});
      questions.push_back({&stream->before, time});
    }
    if (outside) {
      try {
        const std::span<const Marginal> expected = shard.engine.distribution(questions);
        for (std::size_t i = 0; i < streams.size(); ++i) {
          streams[i]->outside.clear();
          for (const Observation& o : streams[i]->coming[round].observed)
            streams[i]->outside.emplace_back(
                o.feature,
                central_level(
                    expected[i * model_->features.size() + static_cast<std::size_t>(o.feature)],
                    o.value));
        }
      } catch (const Error&) {
        // The same will be said of the event itself.
      }
    }
    bool together = true;
    try {
      shard.engine.observe(events);
    } catch (const Error&) {
      together = false;
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      LiveStream& stream = *streams[i];
      if (!together) {
        try {
          shard.engine.observe({&events[i], 1});
        } catch (const Error& e) {
          // The event is left out; the next one reads all of it again, and so finds the same.
          ++counters_.faults;
          stream.fault = e.what();
          stream.loaded = false;
          continue;
        }
      }
      stream.time = stream.coming[round].time;
      ++stream.events;
      ++stream.unkept;
      ++counters_.events;
    }
    std::erase_if(streams, [&](LiveStream* stream) {
      if (round + 1 < stream->coming.size()) return false;
      stream->newest = std::move(stream->coming[round].observed);
      stream->coming.clear();
      stream->coming.shrink_to_fit();
      return true;
    });
  }
}

void Live::begin(StreamEngine& engine, LiveStream& stream, double first) const {
  stream.first = first;
  const std::span<const double> statics =
      stream.about ? std::span<const double>(stream.about->statics) : std::span<const double>();
  stream.state = engine.begin(clock_.start(clock_.model_time(first, first)), statics);
}

void Live::absorb_one(StreamEngine& engine, LiveStream& stream, double raw,
                      const std::vector<Observation>& observed) const {
  if (stream.events == 0) begin(engine, stream, raw);
  StreamState before = stream.state;
  const StreamEngine::Event event{&stream.state, clock_.model_time(raw, stream.first), observed};
  try {
    engine.observe({&event, 1});
  } catch (const Error& e) {
    ++counters_.faults;
    stream.fault = e.what();
    return;
  }
  stream.before = std::move(before);
  stream.before_time = stream.time;
  stream.time = raw;
  stream.newest = observed;
  ++stream.events;
  ++stream.unkept;
}

void Live::load(Access access, LiveStream& stream) const {
  if (!stream.loaded) rebuild(access, stream);
}

// Kept states that saw something else were removed in the transaction that changed it.
void Live::rebuild(Access access, LiveStream& stream) const {
  try {
    read_again(access, stream);
    stream.loaded = true;
  } catch (const Error& e) {
    // The store did not answer; whoever asks next tries again.
    stream.fault = e.what();
    stream.loaded = false;
  }
}

void Live::read_again(Access access, LiveStream& stream) const {
  stream.fault.clear();
  restore(access, stream, kInfinity);
  double received = stream.received;
  replay(access, stream, kInfinity,
         [&](double, std::span<const Observation>, std::span<const KeptValue> values) {
           for (const KeptValue& value : values) received = std::max(received, value.received);
         });
  stream.received = std::min(received, running_seconds());  // the clock may have been set back
}

void Live::restore(Access access, LiveStream& stream, double before) const {
  stream.state = stream.before = {};
  stream.newest.clear();
  stream.first = 0;
  stream.time = stream.before_time = -kInfinity;
  stream.events = 0;
  stream.unkept = 0;
  const auto kept = access.store.newest_state(stream.id, fingerprint_, before);
  if (!kept) return;
  try {
    stream.state = StreamState::from_bytes(kept->bytes);
  } catch (const Error&) {
    return;  // damaged: from the beginning, then
  }
  stream.before = stream.state;
  stream.first = kept->first;
  stream.events = kept->events;
  stream.time = stream.before_time = kept->time;
}

void Live::replay(Access access, LiveStream& stream, double until, const Visit& visit) const {
  double after = stream.time;
  std::vector<Observation> observed;
  while (true) {
    std::vector<KeptValue> values = access.store.values(stream.id, after, until, kReadAtOnce);
    const bool all = values.size() < kReadAtOnce;
    // What may go on behind the last one read is read again.
    if (!all && values.front().time != values.back().time) {
      const double last = values.back().time;
      while (values.back().time == last) values.pop_back();
    }
    for (std::size_t i = 0; i < values.size();) {
      const std::size_t begins = i;
      const double time = values[i].time;
      observed.clear();
      for (; i < values.size() && values[i].time == time; ++i) {
        // What another model knew is kept, and not seen by this one.
        const auto feature = model_feature_.find(values[i].feature);
        if (feature != model_feature_.end()) put_in(observed, {feature->second, values[i].value});
      }
      after = time;
      if (observed.empty()) continue;
      if (stream.events == 0) begin(access.engine, stream, time);
      visit(time, observed, std::span(values).subspan(begins, i - begins));
      absorb_one(access.engine, stream, time, observed);
    }
    if (all) break;
  }
}

void Live::tell(LiveStream& stream) {
  if (stream.events == 0) return;
  std::string text = "{\"stream\":" + json_text(json(stream.name)) + ",\"time\":";
  append_shortest(text, clock_.shown(stream.time));
  text += fmt::format(",\"received\":{:.3f},\"values\":{{", stream.received);
  for (const Observation& o : stream.newest) {
    if (text.back() != '{') text += ',';
    text += json_text(json(model_->features[static_cast<std::size_t>(o.feature)])) + ":";
    append_shortest(text, o.value);
  }
  text += fmt::format("}},\"urgency\":{:.4g},\"replayed\":{}}}", stream.urgency(),
                      stream.replayed ? "true" : "false");
  stream.replayed = false;
  events_.publish("stream", stream.name, std::move(text), true);
}

// The state before the newest event: whatever comes to that event will find it.
void Live::keep_state(LiveStream& stream) {
  if (stream.events < 2 || !stream.fault.empty() || stream.newest.empty()) return;
  stream.unkept = 0;
  const auto found = find(stream.name);
  if (found.get() != &stream) return;
  KeptState state{stream.before_time, stream.first, stream.events - 1, stream.before.to_bytes()};
  write(
      [this, found, through = stream.through, state = std::move(state)](Store& store) {
        // Something came meanwhile; it may belong before this state.
        if (found->removed || found->last_commit > through || !(state.time > found->base)) return;
        store.put_state(found->id, fingerprint_, state);
        // Two are kept, beside the one that retention stands on.
        if (std::isfinite(found->kept_time))
          store.remove_states(found->id, std::nextafter(found->base, kInfinity), found->kept_time);
        found->kept_time = state.time;
      },
      {});
}

void Live::prune(Shard& shard, LiveStream& stream) {
  if (settings_.keep <= 0 || !stream.fault.empty()) return;
  const double until = stream.time - clock_.raw_duration(settings_.keep);
  // A tenth more than what is wanted is left, so that there is something to do.
  if (!(until - std::max(stream.pruned, stream.first) >= clock_.raw_duration(settings_.keep) / 10))
    return;
  const auto found = find(stream.name);
  if (found.get() != &stream) return;
  LiveStream past;
  past.id = stream.id;
  past.about = stream.about;
  const Access access{shard.engine, *shard.store, *this};
  restore(access, past, until);
  replay(access, past, until,
         [](double, std::span<const Observation>, std::span<const KeptValue>) {});
  if (past.events == 0 || !past.fault.empty() || !(past.time > stream.pruned)) return;
  stream.pruned = past.time;
  KeptState state{past.time, past.first, past.events, past.state.to_bytes()};
  auto base = std::make_shared<double>(-kInfinity);
  write(
      [this, found, base, through = stream.through, state = std::move(state)](Store& store) {
        if (found->removed || found->last_commit > through || !(state.time > found->base)) return;
        store.put_state(found->id, fingerprint_, state);
        store.remove_states(found->id, -kInfinity, state.time);
        store.remove_values(found->id, state.time);
        store.change_stream({found->id, found->name, found->origin, state.time, found->about_text});
        *base = state.time;
      },
      [found, base](const std::string* problem) {
        if (!problem && std::isfinite(*base)) found->base = *base;
      });
}

}  // namespace edict::server
