#include "edict/server/live.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <unordered_set>

#include "edict/core/hash.h"
#include "edict/core/json.h"
#include "edict/core/json_text.h"
#include "edict/core/not_finite.h"
#include "edict/server/live_parts.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr std::size_t kCommitValues = 50000;  // at most this much waits for one disk

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

std::string too_many(std::size_t streams) {
  return fmt::format("is new, and --most-streams allows {}; remove some, or raise it", streams);
}

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
      store_(std::move(store)) {
  store_->begin();
  store_feature_ = store_->feature_numbers(model_->features);
  store_->commit();
  for (std::size_t j = 0; j < store_feature_.size(); ++j)
    model_feature_[store_feature_[j]] = static_cast<std::int32_t>(j);
  if (rules.empty())
    if (const auto kept = store_->meta("rules")) {
      try {
        rules = read_rules(*kept, *model_);
      } catch (const BadInput&) {
        // They are of another model; whoever wrote them will see that there are none.
      }
    }
  rules_ = std::make_shared<const std::vector<Rule>>(std::move(rules));

  const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t count =
      settings.shards > 0 ? settings.shards : std::max<std::size_t>(1, processors - 1);
  for (std::size_t i = 0; i < count; ++i) {
    shards_.push_back(std::make_unique<Shard>(model_, settings.guard, store_->another()));
    shards_.back()->rules = rules_;
  }
  aside_ = std::make_unique<Shard>(model_, settings.guard, store_->another());
  aside_->rules = std::make_shared<const std::vector<Rule>>();
  std::unordered_map<std::int64_t, LiveStream*> by_id;
  store_->each_stream([&](KeptStream&& kept) {
    auto stream = std::make_shared<LiveStream>();
    stream->id = kept.id;
    stream->name = kept.name;
    stream->shard = hash_of(kept.name) % count;
    stream->origin = kept.origin;
    stream->base = kept.base;
    stream->about_text = kept.about;
    if (kept.about != "{}")
      stream->about = std::make_shared<const StreamAbout>(about_from(kept.about, *model_));
    by_id[kept.id] = stream.get();
    shards_[stream->shard]->streams.emplace(stream->name, stream);
    names_.emplace(std::move(kept.name), std::move(stream));
  });
  store_->each_alarm([&](KeptAlarm&& kept) {
    next_alarm_ = std::max<std::int64_t>(next_alarm_, kept.id + 1);
    const auto owner = by_id.find(kept.stream);
    if (owner == by_id.end()) return;
    LiveStream& stream = *owner->second;
    try {
      stream.alarms.push_back(alarm_from_json(parse_json(kept.body)));
    } catch (const json::exception&) {
      return;  // of another version; it will fire again
    }
    alarm_streams_[kept.id] = stream.name;
    shards_[stream.shard]->watchful.insert(&stream);
  });
  writer_ = std::thread([this] { run_writer(); });
  aside_->thread = std::thread([this] { run_shard(*aside_); });
  for (auto& shard : shards_)
    shard->thread = std::thread([this, &shard = *shard] { run_shard(shard); });
}

Live::~Live() {
  // What was taken goes through writer and shards; then the shards give their states to the writer.
  while (pending_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  on_every_shard([this](Access, Streams& streams, std::size_t) {
    for (auto& [_, stream] : streams)
      if (stream->loaded && stream->unkept > 0) keep_state(*stream);
  });
  const auto end = [](Shard& shard) {
    {
      const std::lock_guard lock(shard.mutex);
      shard.stopping = true;
    }
    shard.came.notify_all();
    shard.thread.join();
  };
  end(*aside_);
  for (auto& shard : shards_) end(*shard);
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
  return store_problem_;
}

std::vector<Rule> Live::rules() const {
  const std::lock_guard lock(told_mutex_);
  return *rules_;
}

// ---- in ----

void Live::submit(std::vector<Row> rows, std::function<void(const Outcome&)> done) {
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
  request.group->done = std::move(done);
  request.came = running_seconds();
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back(std::move(request));
  }
  queue_came_.notify_one();
}

Outcome Live::submit_and_wait(std::vector<Row> rows) {
  std::promise<Outcome> promise;
  submit(std::move(rows), [&](const Outcome& outcome) { promise.set_value(outcome); });
  return promise.get_future().get();
}

std::string Live::no_room_for(const std::string& name) const {
  const std::shared_lock lock(names_mutex_);
  if (names_.size() < settings_.most_streams || names_.contains(name)) return {};
  return too_many(settings_.most_streams);
}

void Live::write(std::function<void(Store&)> what, std::function<void(const std::string*)> done,
                 bool alone) {
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
  std::promise<std::string> promise;
  write(
      [&](Store& store) {
        store.add_rejected({wall_seconds(), source, detail, payload.substr(0, 1000)});
      },
      [&](const std::string* problem) { promise.set_value(problem ? *problem : ""); });
  const std::string problem = promise.get_future().get();
  if (!problem.empty()) throw Error(problem);
}

// ---- the writer ----

void Live::run_writer() {
  bool tidied = true;
  while (true) {
    std::vector<Request> requests;
    {
      std::unique_lock lock(queue_mutex_);
      while (queue_.empty() && !stopping_) {
        if (tidied) {
          queue_came_.wait(lock);
        } else if (queue_came_.wait_for(lock, std::chrono::seconds(2)) == std::cv_status::timeout) {
          lock.unlock();
          store_->tidy();
          tidied = true;
          lock.lock();
        }
      }
      if (queue_.empty()) return;
      for (std::size_t values = 0; !queue_.empty() && values < kCommitValues; queue_.pop_front()) {
        const bool alone = queue_.front().alone;
        if (alone && !requests.empty()) break;
        values += queue_.front().rows.size();
        requests.push_back(std::move(queue_.front()));
        if (alone) {
          queue_.pop_front();
          break;
        }
      }
    }
    commit(requests);
    tidied = false;
  }
}

void Live::commit(std::vector<Request>& requests) {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t number = ++commit_number_;
  std::vector<std::vector<Item>> items(shards_.size());
  // As they were before, of everybody concerned; a stream that is begun here lives at least so
  // long.
  std::unordered_map<std::shared_ptr<LiveStream>, double> origins;
  std::vector<std::string> added;
  try {
    store_->begin();
    for (Request& request : requests) {
      if (request.what) {
        request.what(*store_);
        continue;
      }
      Group& group = *request.group;
      group.outcome = {};
      // Before anything is written it is known whether all of it can be.
      std::unordered_map<std::string_view, double> first_date;
      if (!clock_.calendar())
        for (const Row& row : request.rows)
          if (row.time.wall) {
            double& first = first_date.emplace(row.stream, row.time.value).first->second;
            first = std::min(first, row.time.value);
          }
      const auto origin_of = [&](const Row& row, const LiveStream* stream) {
        if (stream && !std::isnan(stream->origin)) return stream->origin;
        return row.time.wall && !clock_.calendar() ? first_date.at(row.stream) : std::nan("");
      };
      std::vector<bool> is_refused(request.rows.size());
      std::unordered_set<std::string_view> begun;  // streams that this request begins
      bool crowded = false;
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        const Row& row = request.rows[i];
        const std::shared_ptr<LiveStream> stream = find(row.stream);
        const double origin = origin_of(row, stream.get());
        const double raw = clock_.raw(row.time, origin);
        std::string why;
        if (stream && raw <= stream->base)
          why = "lies before what is still kept of the stream; raise --keep";
        else if (raw < clock_.earliest())
          why = "lies before the model's clock starts; train with data.start=first";
        else if (!std::isfinite(raw))
          why = "is not finite";
        if (!why.empty())
          why = fmt::format("stream '{}': time {} {}", row.stream, clock_.shown(raw), why);
        else if (stream || begun.contains(row.stream))
          continue;
        else if (streams() + begun.size() < settings_.most_streams)
          begun.insert(row.stream);
        else
          why = fmt::format("stream '{}' {}", row.stream, too_many(settings_.most_streams)),
          crowded = true;
        if (why.empty()) continue;
        is_refused[i] = true;
        group.refuse(i, why);
      }
      if (group.outcome.refused == request.rows.size()) {
        group.outcome.kind = crowded ? Outcome::Kind::crowded : Outcome::Kind::invalid;
        group.outcome.detail = group.outcome.refusals.front().why;
        continue;
      }

      std::vector<Item> own;
      own.reserve(request.rows.size());
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        if (is_refused[i]) continue;
        const Row& row = request.rows[i];
        std::shared_ptr<LiveStream> stream = find(row.stream);
        const double origin = origin_of(row, stream.get());
        if (!stream) {
          stream = std::make_shared<LiveStream>();
          stream->id = store_->add_stream(row.stream, origin);
          stream->name = row.stream;
          stream->shard = hash_of(row.stream) % shards_.size();
          stream->origin = origin;
          stream->kept_time = -kInfinity;
          stream->loaded = true;  // the store has nothing of it
          added.push_back(row.stream);
          const std::unique_lock lock(names_mutex_);
          names_.emplace(row.stream, stream);
        }
        origins.emplace(stream, stream->origin);
        if (std::isnan(stream->origin) && !std::isnan(origin)) {
          stream->origin = origin;
          store_->change_stream(
              {stream->id, stream->name, stream->origin, stream->base, stream->about_text});
        }
        const double raw = clock_.raw(row.time, stream->origin);
        own.push_back({std::move(stream),
                       raw,
                       {row.feature, row.value},
                       Put::inserted,
                       request.came,
                       &group});
      }
      // In the order of the store's keys; of what is in it twice, the last.
      const auto before = [](const Item& a, const Item& b) {
        if (a.stream->id != b.stream->id) return a.stream->id < b.stream->id;
        if (a.time != b.time) return a.time < b.time;
        return a.observation.feature < b.observation.feature;
      };
      if (!std::is_sorted(own.begin(), own.end(), before))
        std::stable_sort(own.begin(), own.end(), before);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (i + 1 < own.size() && !before(own[i], own[i + 1])) {
          ++group.outcome.unchanged;
          continue;
        }
        if (kept != i) own[kept] = std::move(own[i]);
        ++kept;
      }
      own.erase(own.begin() + static_cast<std::ptrdiff_t>(kept), own.end());
      std::vector<KeptValue> values;
      values.reserve(own.size());
      for (const Item& item : own)
        values.push_back({item.stream->id, item.time,
                          store_feature_[static_cast<std::size_t>(item.observation.feature)],
                          item.observation.value, item.received, false});
      std::vector<Put> outcomes(values.size());
      store_->put(values, outcomes);
      for (std::size_t i = 0; i < own.size(); ++i) {
        Item& item = own[i];
        item.put = outcomes[i];
        if (item.put == Put::unchanged) {
          ++group.outcome.unchanged;
        } else {
          ++group.outcome.stored;
          group.outcome.corrected += item.put == Put::corrected;
          LiveStream& stream = *item.stream;
          stream.last_commit = number;
          // A kept state that saw something else is none.
          if (item.time <= stream.kept_time) {
            store_->remove_states(stream.id, item.time, kInfinity);
            stream.kept_time = item.time;
          }
        }
        items[item.stream->shard].push_back(std::move(item));
      }
    }
    store_->commit();
  } catch (const std::exception& e) {
    store_->rollback();
    {
      const std::unique_lock lock(names_mutex_);
      for (const std::string& name : added) names_.erase(name);
    }
    for (auto& [stream, origin] : origins) {
      stream->origin = origin;
      stream->kept_time = kInfinity;  // nobody knows
    }
    // One of them may be to blame for all.
    if (requests.size() > 1) {
      for (Request& request : requests) {
        std::vector<Request> alone;
        alone.push_back(std::move(request));
        commit(alone);
      }
      return;
    }
    ++counters_.store_failures;
    const std::string problem = e.what();
    {
      const std::lock_guard lock(told_mutex_);
      store_problem_ = problem;
    }
    Request& request = requests.front();
    if (request.what) {
      if (request.written) request.written(&problem);
      return;
    }
    Outcome& outcome = request.group->outcome;
    outcome = {};
    outcome.kind = Outcome::Kind::failed;
    outcome.detail = problem;
    pending_ -= request.group->rows;
    request.group->done(outcome);
    return;
  }
  ++counters_.commits;
  counters_.commit_seconds =
      counters_.commit_seconds +
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  {
    const std::lock_guard lock(told_mutex_);
    store_problem_.clear();
  }
  std::vector<Job> jobs(shards_.size());
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    std::unordered_set<Group*> groups;
    for (const Item& item : items[s]) groups.insert(item.group);
    for (Request& request : requests)
      if (request.group && groups.contains(request.group.get())) {
        ++request.group->shards;
        jobs[s].groups.push_back(request.group);
      }
    jobs[s].items = std::move(items[s]);
    jobs[s].commit = number;
  }
  for (Request& request : requests) {
    if (request.what) {
      if (request.written) request.written(nullptr);
      continue;
    }
    const Outcome& outcome = request.group->outcome;
    counters_.values += outcome.stored;
    counters_.unchanged += outcome.unchanged;
    counters_.corrected += outcome.corrected;
    if (request.group->shards > 0) continue;
    pending_ -= request.group->rows;
    request.group->done(outcome);
  }
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    if (jobs[s].items.empty()) continue;
    {
      const std::lock_guard lock(shards_[s]->mutex);
      shards_[s]->queue.push_back(std::move(jobs[s]));
    }
    shards_[s]->came.notify_one();
  }
}

std::shared_ptr<LiveStream> Live::find(const std::string& name) const {
  const std::shared_lock lock(names_mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

// ---- streams told of and removed ----

void Live::describe(const std::string& name, StreamAbout about, std::optional<double> origin,
                    std::function<void(const std::string*)> done, const std::string& who) {
  const std::string text = about_text(about, *model_);
  auto shared = std::make_shared<const StreamAbout>(std::move(about));
  struct Change {
    std::shared_ptr<LiveStream> stream;
    std::string refusal;
  };
  auto change = std::make_shared<Change>();
  write(
      [this, name, text, origin, change, who](Store& store) {
        *change = {find(name), ""};
        std::shared_ptr<LiveStream>& stream = change->stream;
        if (stream && stream->base > -kInfinity && stream->about_text != text)
          change->refusal =
              "the beginning of the stream is no longer kept; what it began with cannot be changed";
        else if (stream && origin && std::isfinite(stream->origin) && stream->origin != *origin)
          change->refusal =
              "dates of this stream were counted from another origin; remove the stream, or leave "
              "the origin out";
        if (!change->refusal.empty()) return;
        if (!stream) {
          stream = std::make_shared<LiveStream>();
          stream->id = store.add_stream(name, origin.value_or(std::nan("")));
          stream->name = name;
          stream->shard = hash_of(name) % shards_.size();
          stream->kept_time = -kInfinity;
        }
        store.change_stream(
            {stream->id, name, origin.value_or(stream->origin), stream->base, text});
        if (stream->about_text != text) store.remove_states(stream->id, -kInfinity, kInfinity);
        store.add_audit({wall_seconds(), "describe", who, name, text});
      },
      [this, name, text, origin, shared, change,
       done = std::move(done)](const std::string* problem) {
        if (problem || !change->refusal.empty()) return done(problem ? problem : &change->refusal);
        const std::shared_ptr<LiveStream> stream = change->stream;
        stream->about_text = text;
        if (origin) stream->origin = *origin;
        {
          const std::unique_lock lock(names_mutex_);
          names_.emplace(name, stream);
        }
        post(*shards_[stream->shard], [stream, shared, done](Access access, Shard& shard) {
          shard.streams.try_emplace(stream->name, stream);
          stream->about = shared;
          stream->replayed = true;
          access.live.rebuild(access, *stream);
          done(nullptr);
        });
      },
      true);
}

void Live::remove(const std::string& name, std::function<void(bool, const std::string*)> done,
                  const std::string& who) {
  auto removed = std::make_shared<std::shared_ptr<LiveStream>>();
  write(
      [this, name, removed, who](Store& store) {
        *removed = find(name);
        if (!*removed) return;
        store.remove_stream((*removed)->id);
        store.add_audit({wall_seconds(), "remove", who, name, ""});
      },
      [this, name, removed, done = std::move(done)](const std::string* problem) {
        if (problem || !*removed) return done(*removed != nullptr, problem);
        (*removed)->removed = true;
        {
          const std::unique_lock lock(names_mutex_);
          names_.erase(name);
        }
        post(*shards_[(*removed)->shard], [name, removed, done](Access access, Shard& shard) {
          shard.watchful.erase(removed->get());
          {
            const std::lock_guard lock(access.live.told_mutex_);
            for (const Alarm& alarm : (*removed)->alarms)
              access.live.alarm_streams_.erase(alarm.id);
          }
          shard.streams.erase(name);
          access.live.events_.publish("gone", name, json_text({{"stream", name}}), false);
          done(true, nullptr);
        });
      },
      true);
}

}  // namespace edict::server
