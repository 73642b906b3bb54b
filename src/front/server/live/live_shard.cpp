// Live, where streams are: what came in order is absorbed, and what did not is sent elsewhere.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ask/distribution.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "base/text/number_text.h"
#include "front/server/live/live_parts.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr auto kTick = std::chrono::milliseconds(100);

void put_event(std::vector<LiveStream::Event>& events, double time, const Observation& o) {
  auto at =
      std::lower_bound(events.begin(), events.end(), time,
                       [](const LiveStream::Event& event, double t) { return event.time < t; });
  if (at == events.end() || at->time != time) at = events.insert(at, {time, {}});
  put_in(at->observed, o);
}

}  // namespace

std::unique_ptr<LiveStream> LiveStream::snapshot() const {
  auto copy = std::make_unique<LiveStream>();
  static_cast<StreamPast&>(*copy) = *this;
  copy->shard = shard;
  copy->loaded = loaded;
  copy->alarms = alarms;
  copy->crossing = crossing;
  copy->crossing_feature = crossing_feature;
  copy->crossing_rule = crossing_rule;
  copy->crossing_text = crossing_text;
  copy->origin = origin.load();
  return copy;
}

void Live::post(Shard& shard, std::function<void(Access, Shard&)> task) {
  Job job;
  job.task = std::move(task);
  {
    const std::lock_guard lock(shard.mutex);
    shard.queue.push_back(std::move(job));
  }
  shard.came.notify_one();
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
    // Whatever fails is of one request, one question or one look; the others must not suffer.
    try {
      if (jobs.empty()) {
      } else if (jobs.front().task) {
        jobs.front().task(access, shard);
      } else {
        absorb(shard, jobs);
      }
      look_after(shard);
    } catch (const std::exception&) {
      ++counters_.faults;
    }
  }
}

// Alarms that wait for time to pass.
void Live::look_after(Shard& shard) {
  const auto steady = std::chrono::steady_clock::now();
  if (steady - shard.looked < kTick) return;
  shard.looked = steady;
  const double present = now();
  std::vector<LiveStream*> due;
  for (LiveStream* stream : shard.watchful) {
    // Of a stream that has been silent for long little changes from one look to the next.
    const double pause = std::max(settings_.alarm_interval,
                                  std::min(60.0, (stream->judged - stream->received) / 100));
    if (present - stream->judged >= pause || present < stream->judged) due.push_back(stream);
  }
  if (!due.empty()) judge(shard, due, present);
  judge_silence(shard, present);
}

void Live::absorb(Shard& shard, std::vector<Job>& jobs) {
  std::vector<LiveStream*> touched;
  try {
    sort_in(shard, jobs, touched);
    std::vector<LiveStream*> in_order;
    for (LiveStream* stream : touched)
      if (!stream->coming.empty()) in_order.push_back(stream);
    const std::vector<LeftOut> left = absorb_events(shard, in_order);
    for (const LeftOut& one : left)
      for (Job& job : jobs)
        for (Item& item : job.items)
          if (item.stream.get() == one.stream && item.time == one.time &&
              item.observation.feature == one.feature && item.put != Put::unchanged) {
            ++item.group->parts;
            refuse(item.stream, item, one.why);
          }
    const double present = now();
    std::vector<LiveStream*> due;
    for (LiveStream* stream : touched) {
      if (stream->busy || stream->gone) continue;
      if (stream->checkpoints.has_unwritten()) {
        keep_states(*stream);
        prune(*stream);
      }
      if (shard.rules->empty() && stream->alarms.empty() && stream->fault.empty()) continue;
      shard.watchful.insert(stream);
      if (present - stream->judged >= settings_.alarm_interval) due.push_back(stream);
    }
    if (!due.empty()) judge(shard, due, present);
    if (events_.watched())
      for (LiveStream* stream : touched) tell(*stream);
    else
      events_.skip();
  } catch (const std::exception& e) {
    // Memory ran out, most likely: what the store has is read again when it is next needed.
    ++counters_.faults;
    for (LiveStream* stream : touched) {
      stream->coming.clear();
      stream->loaded = false;
      if (!stream->busy) fail_waiting(*stream, e.what());
    }
    for (Job& job : jobs)
      for (const auto& group : job.groups) {
        const std::lock_guard lock(group->mutex);
        group->outcome.kind = Outcome::Kind::failed;
        group->outcome.detail = e.what();
      }
  }
  for (Job& job : jobs)
    for (const auto& group : job.groups) release(*group);
}

// Whether the shard's thread reaches a later event soon. After a long gap a replay does that.
bool Live::is_near(const LiveStream& stream, double raw) const {
  constexpr double kShare = 0.001;  // of the longest gap
  if (stream.events == 0 && stream.coming.empty()) return true;
  const double last = stream.coming.empty() ? stream.time : stream.coming.back().time;
  return raw - last <= kShare * clock_.longest_gap();
}

// What is to be absorbed in order comes into `coming`; what is not waits for a replay.
void Live::sort_in(Shard& shard, std::vector<Job>& jobs, std::vector<LiveStream*>& touched) {
  std::unordered_set<LiveStream*> seen;
  std::vector<std::shared_ptr<LiveStream>> elsewhere;
  for (Job& job : jobs)
    for (Item& item : job.items) {
      LiveStream& stream = *item.stream;
      if (stream.gone) continue;
      if (seen.insert(&stream).second) {
        touched.push_back(&stream);
        list(shard, item.stream);
        stream.late_from = kInfinity;
        if (stream.busy || !stream.loaded) elsewhere.push_back(item.stream);
      }
      stream.received = std::max(stream.received, item.received);
      if (!stream.busy) stream.through = job.commit;
      if (item.put == Put::unchanged || !stream.loaded) continue;
      if (stream.busy || stream.late_from < kInfinity) {
        if (item.time < stream.time) {
          ++item.group->late;
          ++counters_.late;
        }
        stream.late_from = std::min(stream.late_from, item.time);
      } else if (item.time > stream.time && is_near(stream, item.time)) {
        put_event(stream.coming, item.time, item.observation);
      } else if (item.time == stream.time && !stream.newest.empty()) {
        // Another value of the newest event: back to what was before it.
        put_in(stream.newest, item.observation);
        stream.coming.insert(stream.coming.begin(), {stream.time, std::move(stream.newest)});
        stream.newest.clear();
        stream.state = stream.before;
        stream.time = stream.before_time;
        --stream.events;
      } else {
        if (item.time < stream.time) {
          ++item.group->late;
          ++counters_.late;
        }
        stream.late_from = item.time;
        elsewhere.push_back(item.stream);
      }
    }
  if (elsewhere.empty()) return;
  std::unordered_set<LiveStream*> gathered;
  for (const auto& stream : elsewhere) gathered.insert(stream.get());
  for (Job& job : jobs)
    for (Item& item : job.items)
      if (gathered.contains(item.stream.get())) wait_for(item, job.commit);
  for (const auto& stream : elsewhere) {
    stream->coming.clear();
    stream->replayed = stream->loaded;
    if (stream->busy) continue;
    if (stream->loaded) ++counters_.replays;
    start_replay(stream, stream->loaded ? stream->late_from : kInfinity);
  }
}

// Only what is listed is found by questions, alarms and the overview.
void Live::list(Shard& shard, const std::shared_ptr<LiveStream>& stream) {
  if (stream->listed) return;
  stream->listed = true;
  shard.streams.try_emplace(stream->name, stream);
}

void Live::wait_for(Item& item, std::uint64_t commit) {
  auto waiting = std::make_shared<LiveStream::Waiting>();
  waiting->item = item;
  waiting->group = item.group->shared_from_this();
  waiting->commit = commit;
  ++item.group->parts;
  item.stream->waiting.push_back(std::move(waiting));
}

// One event of each stream after the other, all streams together.
std::vector<Live::LeftOut> Live::absorb_events(Shard& shard, std::vector<LiveStream*>& streams) {
  const bool outside = std::any_of(shard.rules->begin(), shard.rules->end(), [](const Rule& rule) {
    return rule.kind == Rule::Kind::outside;
  });
  std::vector<LeftOut> left;
  std::vector<StreamEngine::Event> events;
  std::vector<StreamEngine::Question> questions;
  for (std::size_t round = 0; !streams.empty(); ++round) {
    events.clear();
    questions.clear();
    for (LiveStream* stream : streams) {
      LiveStream::Event& event = stream->coming[round];
      if (stream->checkpoints.wants(stream->events))
        stream->checkpoints.add({stream->time, stream->first, stream->events, stream->received,
                                 stream->state.to_bytes()});
      if (stream->events == 0) begin(shard.engine, *stream, event.time);
      stream->before = stream->state;
      const double time = clock_.model_time(event.time, stream->first);
      events.push_back({&stream->state, time, event.observed});
      questions.push_back({&stream->before, time});
    }
    if (outside) {
      std::span<const Marginal> expected;
      try {
        expected = shard.engine.distribution(questions);
      } catch (const Error&) {
        // The same will be said of the event itself.
      }
      for (std::size_t i = 0; i < streams.size() && !expected.empty(); ++i) {
        LiveStream& stream = *streams[i];
        // Every value since the rules were last looked at counts.
        if (stream.outside_judged) stream.outside.clear();
        stream.outside_judged = false;
        for (const Observation& o : stream.coming[round].observed)
          stream.outside.push_back(
              {o.feature,
               central_level(
                   expected[i * model_->features.size() + static_cast<std::size_t>(o.feature)],
                   o.value),
               o.value});
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
      LiveStream::Event& event = stream.coming[round];
      const std::size_t already = left.size();
      if (together) {
        stream.fault.clear();
        stream.before_time = stream.time;
        stream.time = event.time;
        ++stream.events;
      } else {
        stream.state = stream.before;
        absorb_one(shard.engine, stream, event.time, event.observed, &left);
      }
      for (std::size_t k = already; k < left.size(); ++k) {
        left[k].stream = &stream;
        stream.outside.clear();  // what is refused is not judged
      }
      ++counters_.events;
    }
    std::erase_if(streams, [&](LiveStream* stream) {
      if (round + 1 < stream->coming.size()) return false;
      // Of the last one that was not left out.
      for (std::size_t k = round + 1; k-- > 0;) {
        if (stream->coming[k].time != stream->time) continue;
        stream->newest = std::move(stream->coming[k].observed);
        break;
      }
      stream->coming.clear();
      stream->coming.shrink_to_fit();
      return true;
    });
  }
  return left;
}

// ---- replays ----

// From the newest kept state before a raw time. One that is under way already is followed by
// another.
void Live::start_replay(const std::shared_ptr<LiveStream>& stream, double before) {
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
  ++asides_;
  {
    const std::lock_guard lock(replayer_->mutex);
    replays_.push_back(std::move(replay));
  }
  replayer_->came.notify_one();
}

void Live::end_replay(Shard& shard, Replay& replay) {
  const std::shared_ptr<LiveStream> stream = replay.stream;
  const std::shared_ptr<void> over(nullptr, [this](void*) { --asides_; });
  stream->busy = false;
  if (stream->gone) {
    // What waited is durable, and the stream is no longer what it was.
    for (const auto& waiting : stream->waiting) release(*waiting->group);
    stream->waiting.clear();
  } else if (!replay.problem.empty()) {
    // The store did not answer; whoever asks next tries again.
    ++counters_.store_failures;
    stream->loaded = false;
    stream->again = kInfinity;
    stream->events = 0;  // what is in memory lacks what came
    stream->fault = replay.problem;
    shard.watchful.insert(stream.get());
    fail_waiting(*stream, replay.problem);
  } else {
    const double came = std::max(stream->received, replay.past.received);
    replay.past.about = stream->about;  // may have been told meanwhile
    static_cast<StreamPast&>(*stream) = std::move(replay.past);
    stream->received = std::min(came, now());  // the clock may have been set back
    stream->checkpoints = std::move(replay.checkpoints);
    stream->checkpoints.set_base(stream->pruned);
    stream->outside_judged = false;
    stream->loaded = true;
    stream->through = replay.from > -kInfinity ? replay.known : replay.through;
    settle(*stream, replay);
    const double again = std::exchange(stream->again, kInfinity);
    if (again < kInfinity) {
      start_replay(stream, again);
    } else {
      std::vector<LiveStream*> one;
      if (!stream->coming.empty()) one.push_back(stream.get());
      // What came meanwhile, in order.
      std::vector<std::shared_ptr<LiveStream::Waiting>> waiting;
      waiting.swap(stream->waiting);
      const std::vector<LeftOut> left = absorb_events(shard, one);
      for (const auto& own : waiting) {
        const auto bad = std::find_if(left.begin(), left.end(), [&](const LeftOut& l) {
          return l.time == own->item.time && l.feature == own->item.observation.feature;
        });
        if (bad != left.end() && own->item.put != Put::unchanged)
          refuse(stream, own->item, bad->why);
        else
          release(*own->group);
      }
    }
    keep_states(*stream);
    if (!stream->busy) {
      prune(*stream);
      if (!shard.rules->empty() || !stream->alarms.empty() || !stream->fault.empty())
        shard.watchful.insert(stream.get());
      if (events_.watched()) tell(*stream);
    }
  }
  if (!stream->busy) {
    std::vector<std::function<void(LiveStream*)>> tasks;
    tasks.swap(stream->tasks);
    for (const auto& task : tasks) task(stream->gone ? nullptr : stream.get());
  }
}

// Of what waited, that which the replay has seen is over. What came later is put where it belongs,
// or `again` says from where the stream must be absorbed once more.
void Live::settle(LiveStream& stream, const Replay& replay) {
  std::vector<std::shared_ptr<LiveStream::Waiting>> rest;
  for (auto& waiting : stream.waiting) {
    Item& item = waiting->item;
    stream.through = std::max(stream.through, waiting->commit);
    // A state from memory was gone on from that is older than what was read from the store.
    const bool before_state = item.time <= replay.from && waiting->commit > replay.known;
    if (waiting->commit > replay.through || before_state) {
      rest.push_back(std::move(waiting));
      continue;
    }
    const std::vector<LeftOut>& left = replay.left;
    const auto bad = std::find_if(left.begin(), left.end(), [&](const LeftOut& l) {
      return l.time == item.time && l.feature == item.observation.feature;
    });
    if (bad != left.end() && item.put != Put::unchanged)
      refuse(item.stream, item, bad->why);
    else
      release(*waiting->group);
  }
  stream.waiting = std::move(rest);
  for (const auto& waiting : stream.waiting) {
    if (waiting->item.put == Put::unchanged) continue;
    if (waiting->item.time > stream.time && is_near(stream, waiting->item.time))
      put_event(stream.coming, waiting->item.time, waiting->item.observation);
    else
      stream.again = std::min(stream.again, waiting->item.time);
  }
  if (stream.again < kInfinity) stream.coming.clear();
}

void Live::fail_waiting(LiveStream& stream, const std::string& why) {
  for (const auto& waiting : stream.waiting) {
    {
      const std::lock_guard lock(waiting->group->mutex);
      waiting->group->outcome.kind = Outcome::Kind::failed;
      waiting->group->outcome.detail = fmt::format(
          "stream '{}': {}; the values are stored, but the stream could not be read: "
          "send them again",
          stream.name, why);
    }
    release(*waiting->group);
  }
  stream.waiting.clear();
}

// A value that is durable and cannot be absorbed: it goes to the rejected ones, and its request is
// told so. It is a part of its group.
void Live::refuse(const std::shared_ptr<LiveStream>& stream, const Item& item,
                  const std::string& why) {
  const std::string detail = fmt::format(
      "stream '{}': time {}: '{}' = {} cannot be absorbed: {}", stream->name,
      clock_.shown(item.time), model_->features[static_cast<std::size_t>(item.observation.feature)],
      item.observation.value, why);
  auto corrected = std::make_shared<bool>(false);
  ++counters_.rejected;
  write(
      [this, stream, item, detail, corrected](Store& store) {
        *corrected = false;
        if (!stream->written.removed) {
          *corrected =
              store.take_back(stream->id, item.time,
                              store_feature_[static_cast<std::size_t>(item.observation.feature)],
                              item.observation.value);
          LiveStream::Written& written = touch(stream);
          written.newest = kNaN;
          // Kept states have left it out; the value that stands again they have not seen.
          if (*corrected) {
            forget_states(*stream, item.time);
            add_late(written.late, {transaction_->number, item.time});
          }
        }
        store.add_rejected({item.received, "observations", detail,
                            row_text(stream->name, clock_.shown(item.time),
                                     item.observation.feature, item.observation.value)});
      },
      [this, stream, detail, corrected, line = item.line, put = item.put, time = item.time,
       group = item.group->shared_from_this()](const Result<>& written) {
        {
          const std::lock_guard lock(group->mutex);
          if (!written) {
            group->outcome.kind = Outcome::Kind::failed;
            group->outcome.detail = written.failure().text;
          } else {
            --group->outcome.stored;
            group->outcome.corrected -= put == Put::corrected;
            group->outcome.refused.add({line, "values", detail});
            ++group->outcome.refused.kept;
          }
        }
        if (!written || !*corrected) return release(*group);
        post(*shards_[stream->shard], [stream, time, group](Access access, Shard&) {
          if (!stream->gone) access.live.start_replay(stream, time);
          access.live.when_ready(
              stream, [&live = access.live, group](LiveStream*) { live.release(*group); });
        });
      });
}

void Live::when_ready(const std::shared_ptr<LiveStream>& stream,
                      std::function<void(LiveStream*)> task) {
  if (stream->busy)
    stream->tasks.push_back(std::move(task));
  else
    task(stream->gone ? nullptr : stream.get());
}

// ---- what is told and kept ----

void Live::tell(LiveStream& stream) {
  if (stream.events == 0 || stream.busy || stream.gone) return;
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

void Live::keep_states(LiveStream& stream) {
  const auto found = find(stream.name);
  if (found.get() != &stream) return;
  Checkpoints::Unwritten unwritten = stream.checkpoints.take_unwritten();
  if (unwritten.states.empty() && unwritten.obsolete.empty()) return;
  write(
      [this, found, through = stream.through, unwritten = std::move(unwritten)](Store& store) {
        if (found->written.removed) return;
        LiveStream::Written& written = touch(found);
        for (const double time : unwritten.obsolete)
          store.remove_states(found->id, time, std::nextafter(time, kInfinity));
        // Something came meanwhile; it may belong before one of them.
        const double valid = valid_before(written.late, through);
        for (const KeptState& state : unwritten.states) {
          if (!(state.time < valid && state.time > written.base)) continue;
          store.put_state(found->id, fingerprint_, state);
          written.kept_time = std::max(written.kept_time, state.time);
        }
        forget_late(written.late, through);
      },
      {});
}

// What was received longer ago than is to be kept goes, up to a kept state that takes its place.
void Live::prune(LiveStream& stream) {
  if (settings_.keep <= 0) return;
  const KeptState* const base =
      stream.checkpoints.newest_received(now() - settings_.keep * clock_.seconds_in_unit());
  if (!base || !(base->time > stream.pruned)) return;
  const auto found = find(stream.name);
  if (found.get() != &stream) return;
  stream.pruned = base->time;
  write(
      [this, found, through = stream.through, time = base->time,
       first = base->first](Store& store) {
        if (found->written.removed) return;
        LiveStream::Written& written = touch(found);
        // Something came meanwhile that belongs before it, or it was never written.
        if (!(time < valid_before(written.late, through) && time > written.base)) return;
        const auto kept =
            store.newest_state(found->id, fingerprint_, std::nextafter(time, kInfinity));
        if (!kept || kept->time != time) return;
        store.remove_states(found->id, -kInfinity, time);
        store.remove_values(found->id, time);
        written.base = time;
        written.first = first;
        store.change_stream({found->id, found->name, written.origin, written.base, written.first,
                             written.about_text});
      },
      {});
  stream.checkpoints.set_base(stream.pruned);
}

}  // namespace edict::server
