// Live, where streams, alarms and rules are changed as a whole: first in the store, then in the
// shard.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "front/server/live/live.h"
#include "front/server/live/stored_streams.h"

namespace edict::server {
namespace {

const Failure kNoStream{Failure::Kind::not_found, "there is no such stream"};
const Failure kNoAlarm{Failure::Kind::not_found, "there is no such alarm, or it is over"};

Alarm* alarm_of(Shard& shard, const std::string& stream, std::int64_t id) {
  const auto found = shard.streams.find(stream);
  if (found == shard.streams.end()) return nullptr;
  const auto at = std::ranges::find(found->second->alarms, id, &Alarm::id);
  return at == found->second->alarms.end() ? nullptr : &*at;
}

}  // namespace

// What a transaction finds, for what comes after it.
struct Live::Change {
  std::shared_ptr<LiveStream> stream;
  std::size_t count = 0;
  std::string refusal;
  std::uint64_t commit = 0;
};

void Live::describe(const std::string& name, StreamAbout about, std::optional<double> origin,
                    WhenDone<> done, const std::string& who) {
  const std::string text = about_text(about, model());
  auto shared = std::make_shared<const StreamAbout>(std::move(about));
  auto change = std::make_shared<Change>();
  const auto write_about = [this, name, text, origin, change, who](Transaction& transaction) {
    *change = {registry_.find(name), 0, "", transaction.number()};
    std::shared_ptr<LiveStream>& stream = change->stream;
    if (stream && stream->written.base > -kInfinity && stream->written.about_text != text)
      change->refusal =
          "the beginning of the stream is no longer kept; what it began with cannot be changed";
    else if (stream && origin && std::isfinite(stream->written.origin) &&
             stream->written.origin != *origin)
      change->refusal =
          "dates of this stream were counted from another origin; remove the stream, or leave "
          "the origin out";
    if (!change->refusal.empty()) return;
    if (!stream) stream = transaction.add_stream(name, origin.value_or(kNaN));
    LiveStream::Written& written = transaction.touch(stream);
    if (origin) written.origin = *origin;
    if (written.about_text != text) transaction.change_past(stream, -kInfinity);
    written.about_text = text;
    transaction.store_stream(*stream);
    transaction.store().add_audit({wall_seconds(), "describe", who, name, text});
  };
  const auto follow = [this, shared, change, done = std::move(done)](const Result<>& written) {
    if (!written) return done(written);
    if (!change->refusal.empty()) return done(Failure{Failure::Kind::conflict, change->refusal});
    shards_.post(change->stream->shard, [this, shared, change, done](Access, Shard& shard) {
      const std::shared_ptr<LiveStream>& stream = change->stream;
      if (!stream->gone) {
        Shards::list(shard, stream);
        if (!stream->busy) stream->through = change->commit;
        stream->about = shared;
        stream->replayed = true;
        shards_.start_replay(stream, -kInfinity);
      }
      Shards::when_ready(stream, [done](LiveStream*) { done({}); });
    });
  };
  writer_.change(write_about, follow, true);
}

void Live::remove(const std::string& name, WhenDone<> done, const std::string& who) {
  auto change = std::make_shared<Change>();
  const auto remove_all = [this, name, change, who](Transaction& transaction) {
    change->stream = registry_.find(name);
    if (!change->stream) return;
    transaction.store().remove_stream(change->stream->id);
    transaction.store().add_audit({wall_seconds(), "remove", who, name, ""});
    transaction.touch(change->stream).removed = true;
  };
  const auto follow = [this, name, change, done = std::move(done)](const Result<>& written) {
    if (!written) return done(written);
    if (!change->stream) return done(kNoStream);
    registry_.remove(name);
    shards_.post(change->stream->shard, [this, change, done](Access, Shard& shard) {
      forget_stream(shard, *change->stream);
      done({});
    });
  };
  writer_.change(remove_all, follow, true);
}

void Live::forget_stream(Shard& shard, LiveStream& stream) {
  stream.gone = true;
  shard.watchful.erase(&stream);
  alarms_.forget(stream.alarms);
  if (const auto found = shard.streams.find(stream.name);
      found != shard.streams.end() && found->second.get() == &stream)
    shard.streams.erase(found);
  context_.events.publish("gone", stream.name, json_text({{"stream", stream.name}}), false);
}

void Live::erase(const std::string& name, double from, double until,
                 std::vector<std::int32_t> features, const std::string& who,
                 WhenDone<std::size_t> done) {
  auto change = std::make_shared<Change>();
  std::vector<std::int32_t> kept;
  for (const std::int32_t feature : features)
    kept.push_back(context_.store_feature[static_cast<std::size_t>(feature)]);
  const auto remove_range = [this, name, from, until, kept, who, change](Transaction& transaction) {
    *change = {registry_.find(name), 0, "", transaction.number()};
    if (!change->stream) return;
    const LiveStream::Written& written = change->stream->written;
    // What was forgotten has become a part of the state that took its place.
    if (from <= written.base && written.base > -kInfinity) {
      change->refusal = fmt::format(
          "what came up to {} is no longer kept and cannot be removed one by one; remove the "
          "stream, or give from after it",
          clock().shown(written.base));
      return;
    }
    change->count = transaction.store().remove_range(change->stream->id, from, until, kept);
    if (change->count == 0) return;
    transaction.change_past(change->stream, from);
    transaction.touch(change->stream).newest = kNaN;
    transaction.store().add_audit({wall_seconds(), "erase", who, name,
                                   fmt::format("{} values from {} to {}", change->count,
                                               clock().shown(from), clock().shown(until))});
  };
  const auto follow = [this, from, change, done = std::move(done)](const Result<>& written) {
    if (!written) return done(written.failure());
    if (!change->stream) return done(kNoStream);
    if (!change->refusal.empty()) return done(Failure{Failure::Kind::conflict, change->refusal});
    if (change->count == 0) return done(0);
    shards_.post(change->stream->shard, [this, from, change, done](Access, Shard&) {
      const std::shared_ptr<LiveStream>& stream = change->stream;
      stream->replayed = true;
      if (!stream->busy) stream->through = change->commit;
      if (!stream->gone) shards_.start_replay(stream, from);
      Shards::when_ready(stream, [change, done](LiveStream*) { done(change->count); });
    });
  };
  writer_.change(remove_range, follow, true);
}

// ---- alarms ----

void Live::alarms(const std::string& stream, std::vector<std::string> states, std::size_t most,
                  std::function<void(std::vector<AlarmOfStream>)> done) {
  auto found = std::make_shared<std::vector<AlarmOfStream>>();
  on_every_shard([=, done = std::move(done)](Access, Streams& own, std::size_t remaining) {
    for (const auto& [name, held] : own) {
      if (!stream.empty() && name != stream) continue;
      for (const Alarm& alarm : held->alarms)
        if (states.empty() || std::ranges::count(states, name_of(alarm.state)) > 0)
          found->push_back({alarm, name});
    }
    if (remaining > 0) return;
    std::sort(found->begin(), found->end(), is_more_urgent);
    if (found->size() > most) found->resize(most);
    done(std::move(*found));
  });
}

void Live::acknowledge(std::int64_t id, const std::string& by, const std::string& reason,
                       WhenDone<AlarmOfStream> done) {
  const std::string name = alarms_.stream_of(id);
  if (name.empty()) return done(kNoAlarm);
  const std::size_t place = registry_.shard_of(name);
  const auto acknowledge_here = [this, place, id, by, reason, name, done = std::move(done)](
                                    Access, Shard& shard) {
    const Alarm* const alarm = alarm_of(shard, name, id);
    if (!alarm) return done(kNoAlarm);
    AlarmOfStream changed{*alarm, name};
    changed.alarm.acknowledged = {by, reason, wall_seconds()};
    const std::string body = json_text(to_json(changed.alarm, name));
    const auto write_it = [stream = shard.streams.at(name)->id, changed,
                           body](Transaction& transaction) {
      const Alarm& own = changed.alarm;
      transaction.store().put_alarm({own.id, stream, own.rule, body});
      transaction.store().add_audit({own.acknowledged->at, "acknowledge", own.acknowledged->by,
                                     changed.stream, own.rule + ": " + own.acknowledged->reason});
    };
    writer_.change(write_it, [this, place, changed, body, done](const Result<>& written) {
      if (!written) return done(written.failure());
      shards_.post(place, [this, changed, body, done](Access, Shard& own) {
        if (Alarm* held = alarm_of(own, changed.stream, changed.alarm.id))
          held->acknowledged = changed.alarm.acknowledged;
        context_.events.publish("alarm", changed.stream, body, false);
        done(changed);
      });
    });
  };
  shards_.post(place, acknowledge_here);
}

void Live::set_rules(std::vector<Rule> rules, const std::string& who, WhenDone<> done) {
  const std::string text = json_text(to_json(rules, model()));
  auto shared = std::make_shared<const std::vector<Rule>>(std::move(rules));
  const auto keep = [text, who](Transaction& transaction) {
    transaction.store().set_meta("rules", text);
    transaction.store().add_audit({wall_seconds(), "rules", who, "", text});
  };
  writer_.change(keep, [this, shared, done = std::move(done)](const Result<>& written) {
    if (!written) return done(written);
    alarms_.set_rules(shared);
    for (std::size_t i = 0; i < registry_.n_shards(); ++i)
      shards_.post(i, [shared](Access, Shard& own) {
        own.rules = shared;
        for (auto& [_, stream] : own.streams) {
          stream->judged = 0;
          own.watchful.insert(stream.get());
        }
      });
    context_.events.publish("rules", "", "{}", false);
    done({});
  });
}

}  // namespace edict::server
