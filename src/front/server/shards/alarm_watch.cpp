#include "front/server/shards/alarm_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ask/distribution.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"

namespace edict::server {
namespace {

constexpr std::int64_t kReserved = 10000;  // numbers; half of them are always left

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

Finding fault_of(const LiveStream& stream) {
  Finding finding;
  finding.holds = !stream.fault.empty();
  finding.text = stream.fault;
  return finding;
}

}  // namespace

// ---- any thread ----

AlarmWatch::Rules AlarmWatch::rules() const {
  const std::lock_guard lock(mutex_);
  return rules_;
}

void AlarmWatch::set_rules(Rules rules) {
  const std::lock_guard lock(mutex_);
  rules_ = std::move(rules);
}

std::string AlarmWatch::stream_of(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(id);
  return found == streams_.end() ? "" : found->second;
}

void AlarmWatch::set_streams(std::unordered_map<std::int64_t, std::string> streams) {
  const std::lock_guard lock(mutex_);
  streams_ = std::move(streams);
}

void AlarmWatch::forget(const std::vector<Alarm>& alarms) {
  const std::lock_guard lock(mutex_);
  for (const Alarm& alarm : alarms) streams_.erase(alarm.id);
}

// ---- numbers ----

void AlarmWatch::reserve_numbers(Store& store) {
  reserved_ = next_ + kReserved;
  store.set_meta("alarms", std::to_string(reserved_));
}

void AlarmWatch::release_numbers(Store& store) {
  reserved_ = next_;
  store.set_meta("alarms", std::to_string(reserved_));
}

void AlarmWatch::set_next_number(std::int64_t next) {
  for (std::int64_t had = next_; had < next && !next_.compare_exchange_weak(had, next);) {
  }
}

// ---- what rules find ----

// Where the clock of a stream's model stands now; where it has no now, and where what was measured
// lies a little ahead, at the newest observation. Of two clocks, of which one may be set and the
// other may have been wrong at the start, the one that goes less far is believed.
double AlarmWatch::judged_from(const LiveStream& stream) const {
  const double present =
      context_.settings.clock ? context_.now() : std::min(wall_seconds(), running_seconds());
  const std::optional<double> raw = context_.clock.raw_of_wall(1e6 * present, stream.origin);
  const double last = stream.state.time();
  return raw ? std::max(last, context_.clock.model_time(*raw, stream.first)) : last;
}

Finding AlarmWatch::found_outside(const LiveStream& stream, const Rule& rule) const {
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
                               context_.model->features[static_cast<std::size_t>(finding.feature)],
                               finding.value.value_or(0), 100 * rule.level);
  return finding;
}

// Whether a limit is crossed from now on.
Finding AlarmWatch::found_crossing(StreamEngine& engine, const LiveStream& stream,
                                   const Rule& rule) const {
  Finding finding;
  finding.feature = rule.feature;
  const std::size_t features = context_.model->features.size();
  const double from = judged_from(stream);
  std::vector<StreamEngine::Question> questions;
  for (int k = 1; k <= kCrossingPoints; ++k)
    questions.push_back(absorption_.question(
        stream, from + rule.within * static_cast<double>(k) / kCrossingPoints));
  const std::span<const Marginal> expected = engine.distribution(questions);
  for (std::size_t k = 0; k < questions.size(); ++k) {
    const Marginal& m = expected[k * features + static_cast<std::size_t>(rule.feature)];
    finding.probability =
        std::max(finding.probability, rule.above ? probability_above(m, *rule.above)
                                                 : probability_below(m, *rule.below));
  }
  finding.holds = finding.probability >= rule.probability;
  finding.text = fmt::format("P({} {} {:.6g} within {}) = {:.2f}",
                             context_.model->features[static_cast<std::size_t>(rule.feature)],
                             rule.above ? '>' : '<', rule.above.value_or(rule.below.value_or(0)),
                             duration_text(rule.within, context_.clock), finding.probability);
  return finding;
}

// How much of the deviation ahead is the model's own uncertainty.
Finding AlarmWatch::found_uncertainty(StreamEngine& engine, const LiveStream& stream,
                                      const Rule& rule) const {
  Finding finding;
  finding.feature = rule.feature;
  const std::size_t features = context_.model->features.size();
  const double from = judged_from(stream);
  const StreamEngine::Question asked = absorption_.question(stream, from + rule.within);
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
                               context_.model->features[static_cast<std::size_t>(finding.feature)]);
  return finding;
}

Finding AlarmWatch::found(StreamEngine& engine, const LiveStream& stream, const Rule& rule) const {
  if (stream.events == 0) {
    Finding none;
    none.feature = rule.feature;
    return none;
  }
  if (rule.kind == Rule::Kind::outside) return found_outside(stream, rule);
  return rule.kind == Rule::Kind::crosses ? found_crossing(engine, stream, rule)
                                          : found_uncertainty(engine, stream, rule);
}

// ---- judging ----

AlarmWatch::Unread AlarmWatch::judge(Shard& shard, const std::vector<LiveStream*>& streams,
                                     double now) {
  Unread unread;
  for (LiveStream* stream : streams) {
    stream->judged = now;
    // It is judged when it is there, and keeps its alarms until then.
    if (stream->busy) continue;
    if (stream->loaded) judge_rules(shard, *stream, now);
    advance(shard, *stream, fault_rule(), fault_of(*stream), now);
    if (!stream->loaded) {
      unread.push_back(stream->shared_from_this());
      continue;
    }
    end_alarms_without_rules(shard, *stream, now);
    if (stream->alarms.empty()) shard.watchful.erase(stream);
  }
  return unread;
}

void AlarmWatch::judge_rules(Shard& shard, LiveStream& stream, double now) {
  stream.crossing = 0;
  stream.crossing_feature = -1;
  for (const Rule& rule : *shard.rules) {
    if (rule.kind == Rule::Kind::silence || !rule.applies_to(stream.name)) continue;
    Finding finding;
    try {
      finding = found(shard.engine, stream, rule);
    } catch (const Error& e) {
      stream.fault = e.what();
      continue;
    }
    if (rule.kind == Rule::Kind::crosses && finding.probability > stream.crossing) {
      stream.crossing = finding.probability;
      stream.crossing_feature = rule.feature;
      stream.crossing_rule = rule.name;
      stream.crossing_text = finding.text;
    }
    advance(shard, stream, rule, finding, now);
  }
  // What was outside and is no longer the newest counts once.
  if (stream.outside_judged) return;
  std::erase_if(stream.outside, [&](const Outside& own) {
    return std::ranges::none_of(stream.newest, [&](const Observation& o) {
      return o.feature == own.feature && o.value == own.value;
    });
  });
  stream.outside_judged = true;
}

void AlarmWatch::end_alarms_without_rules(Shard& shard, LiveStream& stream, double now) {
  for (const Alarm& alarm : std::vector<Alarm>(stream.alarms)) {
    const auto same = [&](const Rule& rule) { return rule.name == alarm.rule; };
    if (same(fault_rule()) || std::ranges::any_of(*shard.rules, same)) continue;
    Rule gone;
    gone.name = alarm.rule;
    advance(shard, stream, gone, {}, now);
  }
}

AlarmWatch::Unread AlarmWatch::judge_silence(Shard& shard, double now) {
  Unread unread;
  if (now - shard.silence_judged < std::min(1.0, context_.settings.alarm_interval) &&
      now >= shard.silence_judged)
    return unread;
  shard.silence_judged = now;
  for (const Rule& rule : *shard.rules) {
    if (rule.kind != Rule::Kind::silence) continue;
    for (auto& [name, stream] : shard.streams) {
      if (!rule.applies_to(name) || stream->busy) continue;
      if (!stream->loaded) {
        unread.push_back(stream);
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
  return unread;
}

// ---- the state of an alarm ----

void AlarmWatch::advance(Shard& shard, LiveStream& stream, const Rule& rule, const Finding& finding,
                         double now) {
  auto at = std::ranges::find(stream.alarms, rule.name, &Alarm::rule);
  const bool is_new = at == stream.alarms.end();
  const Alarm::State before = is_new ? Alarm::State::normal : at->state;
  const Alarm::State after =
      next_state(rule, before, is_new ? now : at->changed, finding.holds, now);
  if (is_new && after == Alarm::State::normal) return;
  Alarm& alarm = is_new ? begin_alarm(stream, rule, now) : *at;
  if (finding.holds) {
    alarm.probability = finding.probability;
    alarm.value = finding.value;
    alarm.text = finding.text;
    if (finding.feature >= 0) alarm.feature = context_.feature_name(finding.feature);
  }
  if (after == before) return;
  alarm.state = after;
  alarm.changed = now;
  shard.watchful.insert(&stream);
  const Alarm changed = alarm;
  if (after == Alarm::State::normal)
    std::erase_if(stream.alarms, [&](const Alarm& own) { return own.id == changed.id; });
  if (after == Alarm::State::firing) ++context_.counters.alarms;
  keep(stream.shared_from_this(), changed, now);
}

Alarm& AlarmWatch::begin_alarm(LiveStream& stream, const Rule& rule, double now) {
  Alarm alarm;
  alarm.id = next_++;
  alarm.rule = rule.name;
  alarm.kind = name_of(rule.kind);
  alarm.priority = rule.priority;
  alarm.since = now;
  stream.alarms.push_back(std::move(alarm));
  const std::lock_guard lock(mutex_);
  streams_[stream.alarms.back().id] = stream.name;
  return stream.alarms.back();
}

// Everybody hears of it, and it outlives a restart.
void AlarmWatch::keep(const std::shared_ptr<LiveStream>& stream, const Alarm& alarm, double now) {
  const std::string body = json_text(to_json(alarm, stream->name));
  context_.events.publish("alarm", stream->name, body, false);
  writer_.change([this, stream, alarm, body, now](Transaction& transaction) {
    if (stream->written.removed) return;
    Store& store = transaction.store();
    if (next_ + kReserved / 2 > reserved_) {
      transaction.if_undone([this, had = reserved_] { reserved_ = had; });
      reserve_numbers(store);
    }
    if (alarm.state == Alarm::State::normal)
      store.remove_alarm(alarm.id);
    else
      store.put_alarm({alarm.id, stream->id, alarm.rule, body});
    store.add_audit(
        {now, std::string(name_of(alarm.state)), "", stream->name, alarm.rule + ": " + alarm.text});
  });
  if (alarm.state == Alarm::State::normal) forget({alarm});
}

}  // namespace edict::server
