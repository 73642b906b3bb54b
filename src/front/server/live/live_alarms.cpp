// Live, where alarms are: rules are asked of distributions, and what they find is told and kept.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ask/distribution.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "front/server/live/live_parts.h"

namespace edict::server {
namespace {

// Of every stream, whatever the rules are: its newest values could not be absorbed or read.
const Rule& fault_rule() {
  static const Rule rule = [] {
    Rule own;
    own.name = "(fault)";
    own.kind = Rule::Kind::fault;
    return own;
  }();
  return rule;
}

const Failure kNoAlarm{Failure::Kind::not_found, "there is no such alarm, or it is over"};

Finding fault_of(const LiveStream& stream) {
  Finding finding;
  finding.holds = !stream.fault.empty();
  finding.text = stream.fault;
  return finding;
}

}  // namespace

double LiveStream::urgency() const {
  double urgency = std::min(crossing, 1.0);
  for (const Alarm& alarm : alarms) {
    if (alarm.state == Alarm::State::pending) continue;
    const double own = 1.0 + static_cast<double>(alarm.priority) +
                       std::min(alarm.probability, 1.0) - (alarm.acknowledged ? 0.5 : 0.0);
    urgency = std::max(urgency, own);
  }
  return urgency;
}

// Where the clock of a stream's model stands now; where it has no now, and where what was measured
// lies a little ahead, at the newest observation. Of two clocks, of which one may be set and the
// other may have been wrong at the start, the one that goes less far is believed.
double Live::judged_from(const LiveStream& stream) const {
  const double present = settings_.clock ? now() : std::min(wall_seconds(), running_seconds());
  const std::optional<double> raw = clock_.raw_of_wall(1e6 * present, stream.origin);
  const double last = stream.state.time();
  return raw ? std::max(last, clock_.model_time(*raw, stream.first)) : last;
}

Finding Live::found_outside(const LiveStream& stream, const Rule& rule) const {
  Finding finding;
  finding.feature = rule.feature;
  for (const Outside& own : stream.outside)
    if ((rule.feature < 0 || own.feature == rule.feature) && own.level > finding.probability) {
      finding.probability = own.level;
      finding.feature = own.feature;
      finding.value = own.value;
    }
  finding.holds = finding.probability > rule.level;
  if (finding.feature >= 0)
    finding.text = fmt::format("{} = {:.4g} lies outside the {:.6g} % interval",
                               model_->features[static_cast<std::size_t>(finding.feature)],
                               finding.value.value_or(0), 100 * rule.level);
  return finding;
}

// Rules on what is expected from now on.
Finding Live::found_ahead(StreamEngine& engine, const LiveStream& stream, const Rule& rule) const {
  Finding finding;
  finding.feature = rule.feature;
  const std::size_t features = model_->features.size();
  const double from = judged_from(stream);
  if (rule.kind == Rule::Kind::crosses) {
    std::vector<StreamEngine::Question> questions;
    for (int k = 1; k <= kCrossingPoints; ++k)
      questions.push_back(
          question(stream, from + rule.within * static_cast<double>(k) / kCrossingPoints));
    const std::span<const Marginal> expected = engine.distribution(questions);
    for (std::size_t k = 0; k < questions.size(); ++k) {
      const Marginal& m = expected[k * features + static_cast<std::size_t>(rule.feature)];
      finding.probability =
          std::max(finding.probability, rule.above ? probability_above(m, *rule.above)
                                                   : probability_below(m, *rule.below));
    }
    finding.holds = finding.probability >= rule.probability;
    finding.text = fmt::format("P({} {} {:.6g} within {}) = {:.2f}",
                               model_->features[static_cast<std::size_t>(rule.feature)],
                               rule.above ? '>' : '<', rule.above.value_or(rule.below.value_or(0)),
                               duration_text(rule.within, clock_), finding.probability);
    return finding;
  }
  const StreamEngine::Question asked = question(stream, from + rule.within);
  const std::span<const Marginal> expected = engine.distribution({&asked, 1});
  for (std::size_t j = 0; j < features; ++j) {
    if (rule.feature >= 0 && static_cast<std::int32_t>(j) != rule.feature) continue;
    const double whole = expected[j].aleatoric + expected[j].epistemic;
    const double ratio =
        std::isfinite(whole) && whole > 0 ? std::sqrt(expected[j].epistemic / whole) : 0;
    if (ratio <= finding.probability) continue;
    finding.probability = ratio;
    finding.feature = static_cast<std::int32_t>(j);
  }
  finding.holds = finding.probability > rule.ratio;
  if (finding.feature >= 0)
    finding.text = fmt::format("{:.0f} % of the deviation of {} is the model's own uncertainty",
                               100 * finding.probability,
                               model_->features[static_cast<std::size_t>(finding.feature)]);
  return finding;
}

void Live::judge(Shard& shard, const std::vector<LiveStream*>& streams, double now) {
  for (LiveStream* stream : streams) {
    stream->judged = now;
    // It is judged when it is there, and keeps its alarms until then.
    if (stream->busy) continue;
    if (!stream->loaded) {
      advance(shard, *stream, fault_rule(), fault_of(*stream), now);
      start_replay(stream->shared_from_this(), kInfinity);
      continue;
    }
    stream->crossing = 0;
    stream->crossing_feature = -1;
    for (const Rule& rule : *shard.rules) {
      if (rule.kind == Rule::Kind::silence || !rule.applies_to(stream->name)) continue;
      Finding finding;
      finding.feature = rule.feature;
      try {
        if (stream->events > 0)
          finding = rule.kind == Rule::Kind::outside ? found_outside(*stream, rule)
                                                     : found_ahead(shard.engine, *stream, rule);
      } catch (const Error& e) {
        stream->fault = e.what();
        continue;
      }
      if (rule.kind == Rule::Kind::crosses && finding.probability > stream->crossing) {
        stream->crossing = finding.probability;
        stream->crossing_feature = rule.feature;
        stream->crossing_rule = rule.name;
        stream->crossing_text = finding.text;
      }
      advance(shard, *stream, rule, finding, now);
    }
    // What was outside and is no longer the newest counts once.
    if (!stream->outside_judged) {
      std::erase_if(stream->outside, [&](const Outside& own) {
        return std::none_of(
            stream->newest.begin(), stream->newest.end(),
            [&](const Observation& o) { return o.feature == own.feature && o.value == own.value; });
      });
      stream->outside_judged = true;
    }
    advance(shard, *stream, fault_rule(), fault_of(*stream), now);
    // Of rules that are no more.
    for (const Alarm& alarm : std::vector<Alarm>(stream->alarms)) {
      const auto same = [&](const Rule& rule) { return rule.name == alarm.rule; };
      if (same(fault_rule()) || std::any_of(shard.rules->begin(), shard.rules->end(), same))
        continue;
      Rule gone;
      gone.name = alarm.rule;
      advance(shard, *stream, gone, {}, now);
    }
    if (stream->alarms.empty()) shard.watchful.erase(stream);
  }
}

void Live::judge_silence(Shard& shard, double now) {
  if (now - shard.silence_judged < std::min(1.0, settings_.alarm_interval) &&
      now >= shard.silence_judged)
    return;
  shard.silence_judged = now;
  for (const Rule& rule : *shard.rules) {
    if (rule.kind != Rule::Kind::silence) continue;
    for (auto& [name, stream] : shard.streams) {
      if (!rule.applies_to(name) || stream->busy) continue;
      if (!stream->loaded) {
        start_replay(stream, kInfinity);
        continue;
      }
      Finding finding;
      const double silent = now - stream->received;
      finding.holds = stream->events > 0 && silent > rule.silent;
      finding.value = std::max(0.0, silent);
      finding.text = fmt::format("nothing received for more than {:.4g} s", rule.silent);
      advance(shard, *stream, rule, finding, now);
    }
  }
}

void Live::advance(Shard& shard, LiveStream& stream, const Rule& rule, const Finding& finding,
                   double now) {
  auto at = std::find_if(stream.alarms.begin(), stream.alarms.end(),
                         [&](const Alarm& alarm) { return alarm.rule == rule.name; });
  const bool is_new = at == stream.alarms.end();
  const Alarm::State before = is_new ? Alarm::State::normal : at->state;
  const Alarm::State after =
      next_state(rule, before, is_new ? now : at->changed, finding.holds, now);
  if (is_new) {
    if (after == Alarm::State::normal) return;
    Alarm alarm;
    alarm.id = next_alarm_++;
    alarm.rule = rule.name;
    alarm.kind = name_of(rule.kind);
    alarm.priority = rule.priority;
    alarm.since = now;
    stream.alarms.push_back(std::move(alarm));
    at = stream.alarms.end() - 1;
    const std::lock_guard lock(told_mutex_);
    alarm_streams_[at->id] = stream.name;
  }
  if (finding.holds) {
    at->probability = finding.probability;
    at->value = finding.value;
    at->text = finding.text;
    if (finding.feature >= 0)
      at->feature = model_->features[static_cast<std::size_t>(finding.feature)];
  }
  if (after == before) return;
  at->state = after;
  at->changed = now;
  shard.watchful.insert(&stream);
  const Alarm alarm = *at;
  if (after == Alarm::State::normal) stream.alarms.erase(at);
  if (after == Alarm::State::firing) ++counters_.alarms;
  const std::string body = json_text(to_json(alarm, stream.name));
  events_.publish("alarm", stream.name, body, false);
  write(
      [this, found = stream.shared_from_this(), alarm, body, now](Store& store) {
        if (found->written.removed) return;
        if (next_alarm_ + kAlarmsReserved / 2 > alarms_reserved_)
          reserve_alarms(next_alarm_ + kAlarmsReserved);
        if (alarm.state == Alarm::State::normal)
          store.remove_alarm(alarm.id);
        else
          store.put_alarm({alarm.id, found->id, alarm.rule, body});
        store.add_audit({now, std::string(name_of(alarm.state)), "", found->name,
                         alarm.rule + ": " + alarm.text});
      },
      {});
  if (after == Alarm::State::normal) {
    const std::lock_guard lock(told_mutex_);
    alarm_streams_.erase(alarm.id);
  }
}

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
  std::string name;
  {
    const std::lock_guard lock(told_mutex_);
    const auto found = alarm_streams_.find(id);
    if (found != alarm_streams_.end()) name = found->second;
  }
  if (name.empty()) return done(kNoAlarm);
  post(*shards_[hash_of(name) % shards_.size()],
       [this, id, by, reason, name, done = std::move(done)](Access, Shard& shard) {
         const auto alarm_of = [id](Shard& own, const std::string& stream) -> Alarm* {
           const auto found = own.streams.find(stream);
           if (found != own.streams.end())
             for (Alarm& held : found->second->alarms)
               if (held.id == id) return &held;
           return nullptr;
         };
         Alarm* const alarm = alarm_of(shard, name);
         if (!alarm) return done(kNoAlarm);
         const double at = wall_seconds();
         Alarm changed = *alarm;
         changed.acknowledged = {by, reason, at};
         const std::string body = json_text(to_json(changed, name));
         write(
             [stream_id = shard.streams.at(name)->id, name, by, reason, changed, body,
              at](Store& store) {
               store.put_alarm({changed.id, stream_id, changed.rule, body});
               store.add_audit({at, "acknowledge", by, name, changed.rule + ": " + reason});
             },
             [this, name, changed, body, done, alarm_of](const Result<>& written) {
               if (!written) return done(written.failure());
               post(*shards_[hash_of(name) % shards_.size()],
                    [this, name, changed, body, done, alarm_of](Access, Shard& own) {
                      if (Alarm* held = alarm_of(own, name))
                        held->acknowledged = changed.acknowledged;
                      events_.publish("alarm", name, body, false);
                      done(AlarmOfStream{changed, name});
                    });
             });
       });
}

void Live::set_rules(std::vector<Rule> rules, const std::string& who, WhenDone<> done) {
  const std::string text = json_text(to_json(rules, *model_));
  auto shared = std::make_shared<const std::vector<Rule>>(std::move(rules));
  write(
      [text, who](Store& store) {
        store.set_meta("rules", text);
        store.add_audit({wall_seconds(), "rules", who, "", text});
      },
      [this, shared, done = std::move(done)](const Result<>& written) {
        if (!written) return done(written);
        {
          const std::lock_guard lock(told_mutex_);
          rules_ = shared;
        }
        for (auto& shard : shards_)
          post(*shard, [shared](Access, Shard& own) {
            own.rules = shared;
            for (auto& [_, stream] : own.streams) {
              stream->judged = 0;
              own.watchful.insert(stream.get());
            }
          });
        events_.publish("rules", "", "{}", false);
        done({});
      });
}

}  // namespace edict::server
