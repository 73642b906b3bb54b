#include "front/server/live/live.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>

#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "front/server/live/live_parts.h"

namespace edict::server {
namespace {

using nlohmann::json;

std::uint64_t first_event_number(Store& store) {
  const auto now = static_cast<std::uint64_t>(wall_seconds() * 1e6);
  std::uint64_t before = 0;
  if (const auto text = store.meta("events")) before = std::strtoull(text->c_str(), nullptr, 10);
  // Numbers ascend even where the clock was set back, as long as fewer than a million events a
  // second happen.
  const std::uint64_t first = std::max(now, before + 1000000);
  store.set_meta("events", std::to_string(first));
  return first;
}

StreamAbout about_from(const std::string& text, const Model& model) {
  StreamAbout about;
  const json body = parse_json(text);
  if (!body.is_object()) return about;
  if (const auto statics = body.find("statics"); statics != body.end() && statics->is_object())
    for (const std::string& name : model.statics) {
      const auto value = statics->find(name);
      about.statics.push_back(value != statics->end() && value->is_number()
                                  ? value->get<double>()
                                  : std::numeric_limits<double>::quiet_NaN());
    }
  if (const auto labels = body.find("labels"); labels != body.end())
    about.labels = json_text(*labels);
  return about;
}

std::string about_text(const StreamAbout& about, const Model& model) {
  json statics = json::object();
  for (std::size_t c = 0; c < about.statics.size(); ++c)
    if (std::isfinite(about.statics[c])) statics[model.statics[c]] = about.statics[c];
  return json_text({{"statics", statics}, {"labels", parse_json(about.labels)}});
}

const Failure kNoStream{Failure::Kind::not_found, "there is no such stream"};

}  // namespace

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double running_seconds() {
  using Steady = std::chrono::steady_clock;
  static const double wall = wall_seconds();
  static const Steady::time_point begin = Steady::now();
  return wall + std::chrono::duration<double>(Steady::now() - begin).count();
}

Live::Live(std::shared_ptr<const Model> model, const LiveSettings& settings,
           std::unique_ptr<Store> store, std::vector<Rule> rules)
    : model_(std::move(model)),
      settings_(settings),
      clock_(*model_, settings.time_unit),
      intake_(*model_, clock_),
      fingerprint_(fingerprint(*model_)),
      events_(first_event_number(*store)),
      store_(std::move(store)),
      rules_given_(!rules.empty()) {
  if (settings_.keep > 0 && clock_.seconds_in_unit() <= 0)
    throw Error(
        "--keep: it counts from when values came, and the model does not know how long a unit of "
        "its time is; give --time-unit s, min, h or d too");
  check_features();
  store_->begin();
  store_feature_ = store_->feature_numbers(model_->features);
  store_->commit();
  for (std::size_t j = 0; j < store_feature_.size(); ++j)
    model_feature_[store_feature_[j]] = static_cast<std::int32_t>(j);
  if (const std::size_t cut = store_->cut_off(fingerprint_); cut > 0)
    notices_.push_back(fmt::format(
        "{} of the streams in the store were shortened by --keep under another model; under this "
        "one they know only what is still kept, on the clock that they had",
        cut));
  generation_ = store_->generation();
  rules_ = std::make_shared<const std::vector<Rule>>(std::move(rules));

  const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t count =
      settings.shards > 0 ? settings.shards : std::max<std::size_t>(1, processors - 1);
  for (std::size_t i = 0; i < count; ++i)
    shards_.push_back(std::make_unique<Shard>(model_, settings.guard, store_->another()));
  const auto worker = [&] {
    return std::make_unique<Worker>(model_, settings_.guard, store_->another());
  };
  aside_ = worker();
  replayer_ = worker();
  // One that takes long does not keep the others waiting.
  for (std::size_t i = 0; i < std::max<std::size_t>(2, count); ++i) questions_.push_back(worker());
  Held held = read_store();
  check_times(held.names.empty());
  notices_.insert(notices_.end(), held.notices.begin(), held.notices.end());
  for (const std::string& notice : notices_)
    store_->add_audit({wall_seconds(), "store", "", "", notice});
  names_ = std::move(held.names);
  alarm_streams_ = std::move(held.alarm_streams);
  for (std::size_t i = 0; i < count; ++i) {
    shards_[i]->streams = std::move(held.of_shard[i]);
    shards_[i]->watchful = std::move(held.watchful[i]);
    shards_[i]->rules = rules_;
  }
  store_->begin();
  reserve_alarms(next_alarm_ + kAlarmsReserved);
  store_->commit();
  writer_ = std::thread([this] { run_writer(); });
  replayer_->thread = std::thread([this] { run_replays(); });
  aside_->thread = std::thread([this] { run_worker(*aside_); });
  for (auto& one : questions_) one->thread = std::thread([this, &one = *one] { run_worker(one); });
  for (auto& shard : shards_)
    shard->thread = std::thread([this, &shard = *shard] { run_shard(shard); });
}

// A store of another model's features would look empty.
void Live::check_features() {
  const std::vector<std::string> kept = store_->features();
  std::string unknown;
  std::size_t common = 0;
  for (const std::string& name : kept) {
    if (intake_.feature(name) >= 0)
      ++common;
    else
      unknown += (unknown.empty() ? "" : ", ") + name;
  }
  if (kept.empty() || unknown.empty()) return;
  if (common == 0)
    throw Error(fmt::format(
        "--store: it has values of {}, and this model knows none of them; give the model that it "
        "belongs to, or another --store",
        unknown));
  notices_.push_back(fmt::format(
      "the store also has values of {}, which this model does not know and does not see", unknown));
}

// Times in the store are raw: numbers of one unit, or dates. Those of another would be mixed with
// them, and nothing would tell which is which.
void Live::check_times(bool is_new) {
  if (!clock_.calendar() && clock_.seconds_in_unit() <= 0) return;
  const std::string own(clock_.calendar() ? "dates" : clock_.unit_name());
  const std::optional<std::string> kept = store_->meta("times");
  if (kept == own) return;
  if (kept && !is_new) {
    if (*kept == "dates" || own == "dates")
      throw Error(fmt::format(
          "--store: its times are {}, and those of this model are {}; give the model that it "
          "belongs to, or another --store",
          *kept == "dates" ? "dates" : "plain numbers",
          own == "dates" ? "dates" : "plain numbers"));
    throw Error(fmt::format(
        "--store: its times count in {}, and this start counts in {}; give --time-unit {}, or "
        "another --store",
        *kept, own, *kept));
  }
  store_->set_meta("times", own);
}

// What the store has, and nothing that is not in it: rules are read unless they were given.
Live::Held Live::read_store() {
  Held held;
  held.of_shard.resize(shards_.size());
  held.watchful.resize(shards_.size());
  std::unordered_map<std::int64_t, LiveStream*> by_id;
  store_->each_stream([&](KeptStream&& kept) {
    auto stream = std::make_shared<LiveStream>();
    stream->id = kept.id;
    stream->name = kept.name;
    stream->shard = hash_of(kept.name) % shards_.size();
    stream->origin = stream->written.origin = kept.origin;
    stream->pruned = stream->written.base = kept.base;
    stream->removed_first = stream->written.first = kept.first;
    stream->written.about_text = kept.about;
    if (kept.about != "{}")
      stream->about = std::make_shared<const StreamAbout>(about_from(kept.about, *model_));
    by_id[kept.id] = stream.get();
    stream->listed = true;
    held.of_shard[stream->shard].emplace(stream->name, stream);
    held.names.emplace(std::move(kept.name), std::move(stream));
  });
  std::int64_t next = next_alarm_;
  if (const auto text = store_->meta("alarms"))
    next = std::max<std::int64_t>(next, std::strtoll(text->c_str(), nullptr, 10));
  store_->each_alarm([&](KeptAlarm&& kept) {
    next = std::max(next, kept.id + 1);
    const auto owner = by_id.find(kept.stream);
    if (owner == by_id.end()) return;
    LiveStream& stream = *owner->second;
    try {
      stream.alarms.push_back(alarm_from_json(parse_json(kept.body)));
    } catch (const json::exception&) {
      return;  // of another version; it will fire again
    }
    held.alarm_streams[kept.id] = stream.name;
    held.watchful[stream.shard].insert(&stream);
  });
  for (std::int64_t had = next_alarm_;
       had < next && !next_alarm_.compare_exchange_weak(had, next);) {
  }
  if (rules_given_) return held;
  if (const auto kept = store_->meta("rules")) {
    try {
      auto rules = std::make_shared<const std::vector<Rule>>(read_rules(*kept, *model_));
      const std::lock_guard lock(told_mutex_);
      rules_ = std::move(rules);
    } catch (const BadInput& e) {
      held.notices.push_back(fmt::format(
          "the alarm rules in the store cannot be used (rule {}), and none is in force; set them "
          "again",
          e.what()));
    }
  }
  return held;
}

// Another server has written to the store since this one lost its lock: nothing in memory holds.
void Live::read_again() {
  Held held = read_store();
  store_->add_audit({wall_seconds(), "store", "", "",
                     "another server wrote meanwhile; everything was read again"});
  for (const std::string& notice : held.notices)
    store_->add_audit({wall_seconds(), "store", "", "", notice});
  reserve_alarms(next_alarm_ + kAlarmsReserved);
  for (auto& [_, stream] : names_) stream->written.removed = true;
  {
    const std::unique_lock lock(names_mutex_);
    names_ = std::move(held.names);
  }
  std::shared_ptr<const std::vector<Rule>> rules;
  {
    const std::lock_guard lock(told_mutex_);
    alarm_streams_ = std::move(held.alarm_streams);
    rules = rules_;
  }
  for (std::size_t i = 0; i < shards_.size(); ++i)
    post(*shards_[i], [rules, streams = std::move(held.of_shard[i]),
                       watchful = std::move(held.watchful[i])](Access access, Shard& shard) {
      for (auto& [_, stream] : shard.streams) stream->gone = true;
      shard.streams = streams;
      shard.watchful = watchful;
      shard.rules = rules;
      access.live.events_.skip();  // who watches fetches everything anew
    });
}

// A number that was given is never given again, also after a kill: those up to `until` are taken to
// be used before any of them is.
void Live::reserve_alarms(std::int64_t until) {
  alarms_reserved_ = until;
  store_->set_meta("alarms", std::to_string(until));
}

double Live::now() const { return settings_.clock ? settings_.clock() : running_seconds(); }

Live::~Live() {
  // What was taken goes through writer and shards, and questions are answered.
  std::promise<void> written;
  write([](Store&) {}, [&](const auto&) { written.set_value(); });
  written.get_future().wait();
  std::promise<void> seen;
  on_every_shard([&](Access, Streams&, std::size_t remaining) {
    if (remaining == 0) seen.set_value();
  });
  seen.get_future().wait();
  while (pending_ > 0 || asides_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto end = [](auto& worker) {
    {
      const std::lock_guard lock(worker.mutex);
      worker.stopping = true;
    }
    worker.came.notify_all();
    worker.thread.join();
  };
  end(*aside_);
  for (auto& shard : shards_) end(*shard);
  end(*replayer_);
  for (auto& worker : questions_) end(*worker);
  write([this](Store&) { reserve_alarms(next_alarm_); }, {});
  {
    const std::lock_guard lock(queue_mutex_);
    stopping_ = true;
  }
  queue_came_.notify_all();
  writer_.join();
  store_->tidy();
}

std::size_t Live::streams() const {
  const std::shared_lock lock(names_mutex_);
  return names_.size();
}

std::string Live::store_problem() const {
  const std::lock_guard lock(told_mutex_);
  return store_problem_.empty() ? store_->damage() : store_problem_;
}

std::vector<Rule> Live::rules() const {
  const std::lock_guard lock(told_mutex_);
  return *rules_;
}

// ---- in ----

void Live::submit(std::vector<Row> rows, std::function<void(const Outcome&)> done,
                  Acceptance acceptance) {
  const std::size_t count = rows.size();
  if (count == 0) return done({});
  const std::size_t before = pending_.fetch_add(count);
  if (before > 0 && before + count > settings_.most_pending) {
    pending_ -= count;
    ++counters_.refused_full;
    Outcome full;
    full.kind = Outcome::Kind::full;
    full.detail = fmt::format("{} values wait to be stored; try again in a moment", before);
    return done(full);
  }
  Request request;
  request.rows = std::move(rows);
  request.group = std::make_shared<Group>();
  request.group->rows = count;
  request.group->acceptance = acceptance;
  request.group->done = std::move(done);
  request.came = now();
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back(std::move(request));
  }
  queue_came_.notify_one();
}

Outcome Live::submit_and_wait(std::vector<Row> rows, Acceptance acceptance) {
  std::promise<Outcome> promise;
  submit(
      std::move(rows), [&](const Outcome& outcome) { promise.set_value(outcome); }, acceptance);
  return promise.get_future().get();
}

std::string Live::no_room_for(const std::string& name) const {
  const std::shared_lock lock(names_mutex_);
  if (names_.size() < settings_.most_streams || names_.contains(name)) return {};
  return too_many(settings_.most_streams);
}

void Live::write(std::function<void(Store&)> what, WhenDone<> done, bool alone) {
  Request request;
  request.what = std::move(what);
  request.written = std::move(done);
  request.alone = alone;
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back(std::move(request));
  }
  queue_came_.notify_one();
}

void Live::reject(const std::string& source, const std::string& payload,
                  const std::string& detail) {
  ++counters_.rejected;
  std::promise<Result<>> promise;
  write(
      [&](Store& store) {
        store.add_rejected({wall_seconds(), source, detail, payload.substr(0, 1000)});
      },
      [&](const Result<>& written) { promise.set_value(written); });
  const Result<> written = promise.get_future().get();
  if (!written) throw Error(written.failure().text);
}

std::shared_ptr<LiveStream> Live::find(const std::string& name) const {
  const std::shared_lock lock(names_mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

std::string too_many(std::size_t streams) {
  return fmt::format("is new, and --most-streams allows {}; remove some, or raise it", streams);
}

std::string Live::row_text(const std::string& stream, double shown, std::int32_t feature,
                           double value) const {
  return json_text({{"stream", stream},
                    {"time", shown},
                    {"values", {{model_->features[static_cast<std::size_t>(feature)], value}}}});
}

// A part of a request is over; with the last one it is answered.
void Live::release(Group& group) {
  if (group.parts.fetch_sub(1) != 1) return;
  Outcome& outcome = group.outcome;
  outcome.late = group.late;
  if (outcome.kind == Outcome::Kind::stored && outcome.refused.count == group.rows) {
    outcome.kind = Outcome::Kind::invalid;
    outcome.detail = outcome.refused.problems.front().detail;
  }
  pending_ -= group.rows;
  group.done(outcome);
}

// ---- streams told of and removed ----

void Live::describe(const std::string& name, StreamAbout about, std::optional<double> origin,
                    WhenDone<> done, const std::string& who) {
  const std::string text = about_text(about, *model_);
  auto shared = std::make_shared<const StreamAbout>(std::move(about));
  struct Change {
    std::shared_ptr<LiveStream> stream;
    std::string refusal;
    std::uint64_t commit = 0;
  };
  auto change = std::make_shared<Change>();
  write(
      [this, name, text, origin, change, who](Store& store) {
        *change = {find(name), "", transaction_->number};
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
        if (!stream) stream = added_stream(name, origin.value_or(std::nan("")));
        LiveStream::Written& written = touch(stream);
        if (origin) written.origin = *origin;
        if (written.about_text != text) {
          forget_states(*stream, -kInfinity);
          add_late(written.late, {transaction_->number, -kInfinity});
        }
        written.about_text = text;
        store.change_stream(
            {stream->id, name, written.origin, written.base, written.first, written.about_text});
        store.add_audit({wall_seconds(), "describe", who, name, text});
      },
      [this, shared, change, done = std::move(done)](const Result<>& written) {
        if (!written) return done(written);
        if (!change->refusal.empty())
          return done(Failure{Failure::Kind::conflict, change->refusal});
        const std::shared_ptr<LiveStream> stream = change->stream;
        stream->origin = stream->written.origin;
        post(*shards_[stream->shard],
             [stream, shared, done, commit = change->commit](Access access, Shard& shard) {
               if (!stream->gone) {
                 access.live.list(shard, stream);
                 if (!stream->busy) stream->through = commit;
                 stream->about = shared;
                 stream->replayed = true;
                 access.live.start_replay(stream, -kInfinity);
               }
               access.live.when_ready(stream, [done](LiveStream*) { done({}); });
             });
      },
      true);
}

void Live::remove(const std::string& name, WhenDone<> done, const std::string& who) {
  auto removed = std::make_shared<std::shared_ptr<LiveStream>>();
  write(
      [this, name, removed, who](Store& store) {
        *removed = find(name);
        if (!*removed) return;
        store.remove_stream((*removed)->id);
        store.add_audit({wall_seconds(), "remove", who, name, ""});
        touch(*removed).removed = true;
      },
      [this, name, removed, done = std::move(done)](const Result<>& written) {
        if (!written) return done(written);
        if (!*removed) return done(kNoStream);
        {
          const std::unique_lock lock(names_mutex_);
          names_.erase(name);
        }
        post(*shards_[(*removed)->shard], [name, removed, done](Access access, Shard& shard) {
          LiveStream& stream = **removed;
          stream.gone = true;
          shard.watchful.erase(&stream);
          {
            const std::lock_guard lock(access.live.told_mutex_);
            for (const Alarm& alarm : stream.alarms) access.live.alarm_streams_.erase(alarm.id);
          }
          if (const auto found = shard.streams.find(name);
              found != shard.streams.end() && found->second == *removed)
            shard.streams.erase(found);
          access.live.events_.publish("gone", name, json_text({{"stream", name}}), false);
          done({});
        });
      },
      true);
}

void Live::erase(const std::string& name, double from, double until,
                 std::vector<std::int32_t> features, const std::string& who,
                 WhenDone<std::size_t> done) {
  struct Erased {
    std::shared_ptr<LiveStream> stream;
    std::size_t count = 0;
    std::string refusal;
    std::uint64_t commit = 0;
  };
  auto erased = std::make_shared<Erased>();
  std::vector<std::int32_t> kept;
  for (const std::int32_t feature : features)
    kept.push_back(store_feature_[static_cast<std::size_t>(feature)]);
  write(
      [this, name, from, until, kept, who, erased](Store& store) {
        *erased = {find(name), 0, "", transaction_->number};
        if (!erased->stream) return;
        LiveStream::Written& written = touch(erased->stream);
        // What was forgotten has become a part of the state that took its place.
        if (from <= written.base && written.base > -kInfinity) {
          erased->refusal = fmt::format(
              "what came up to {} is no longer kept and cannot be removed one by one; remove the "
              "stream, or give from after it",
              clock_.shown(written.base));
          return;
        }
        erased->count = store.remove_range(erased->stream->id, from, until, kept);
        if (erased->count == 0) return;
        forget_states(*erased->stream, from);
        add_late(written.late, {transaction_->number, from});
        written.newest = std::nan("");
        store.add_audit({wall_seconds(), "erase", who, name,
                         fmt::format("{} values from {} to {}", erased->count, clock_.shown(from),
                                     clock_.shown(until))});
      },
      [this, from, erased, done = std::move(done)](const Result<>& written) {
        if (!written) return done(written.failure());
        if (!erased->stream) return done(kNoStream);
        if (!erased->refusal.empty())
          return done(Failure{Failure::Kind::conflict, erased->refusal});
        if (erased->count == 0) return done(0);
        post(*shards_[erased->stream->shard], [from, erased, done](Access access, Shard&) {
          const std::shared_ptr<LiveStream>& stream = erased->stream;
          stream->replayed = true;
          if (!stream->busy) stream->through = erased->commit;
          if (!stream->gone) access.live.start_replay(stream, from);
          access.live.when_ready(stream, [erased, done](LiveStream*) { done(erased->count); });
        });
      },
      true);
}

}  // namespace edict::server
