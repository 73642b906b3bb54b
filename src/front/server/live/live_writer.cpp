// Live, where the store is written to: what waits together is one transaction.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "front/server/live/live_parts.h"

namespace edict::server {
namespace {

constexpr std::size_t kMostQuarantined = 100;  // values of one request
constexpr std::size_t kCommitValues = 50000;   // at most this much waits for one disk

// In the order of the store's keys.
bool before(const Live::Item& a, const Live::Item& b) {
  if (a.stream->id != b.stream->id) return a.stream->id < b.stream->id;
  if (a.time != b.time) return a.time < b.time;
  return a.observation.feature < b.observation.feature;
}

std::string span_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.3g} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.3g} h", seconds / 3600);
  return fmt::format("{:.6g} days", seconds / 86400);
}

}  // namespace

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
  Transaction transaction;
  transaction.number = ++commit_number_;
  transaction.items.resize(shards_.size());
  transaction.alarms_reserved = alarms_reserved_;
  transaction_ = &transaction;
  try {
    store_->begin();
    if (const std::uint64_t generation = store_->generation(); generation != generation_) {
      read_again();
      generation_ = generation;
    }
    for (Request& request : requests) {
      if (request.what)
        request.what(*store_);
      else
        take(request, transaction);
    }
    store_->commit();
  } catch (const std::exception& e) {
    store_->rollback();
    undo(transaction);
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
      if (request.written) request.written(Failure{Failure::Kind::store, problem});
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
  committed_ = transaction.number;
  for (const auto& [stream, _] : transaction.before) stream->origin = stream->written.origin;
  pass_on(requests, transaction);
}

// As if nothing had been tried.
void Live::undo(Transaction& transaction) {
  for (auto& [stream, written] : transaction.before) stream->written = std::move(written);
  const std::unique_lock lock(names_mutex_);
  for (const auto& stream : transaction.added) {
    stream->written.removed = true;
    names_.erase(stream->name);
  }
  alarms_reserved_ = transaction.alarms_reserved;
}

LiveStream::Written& Live::touch(const std::shared_ptr<LiveStream>& stream) {
  transaction_->before.try_emplace(stream, stream->written);
  return stream->written;
}

std::shared_ptr<LiveStream> Live::added_stream(const std::string& name, double origin) {
  auto stream = std::make_shared<LiveStream>();
  stream->id = store_->add_stream(name, origin);
  stream->name = name;
  stream->shard = hash_of(name) % shards_.size();
  stream->written.origin = origin;
  stream->written.newest = stream->written.kept_time = -kInfinity;
  stream->loaded = true;  // the store has nothing of it
  touch(stream);
  transaction_->added.push_back(stream);
  const std::unique_lock lock(names_mutex_);
  names_.emplace(name, stream);
  return stream;
}

// Kept states that saw something else are none.
void Live::forget_states(LiveStream& stream, double from) {
  if (!(from <= stream.written.kept_time)) return;
  store_->remove_states(stream.id, from, kInfinity);
  stream.written.kept_time = from;
}

// Why a row cannot be taken; `text` is empty where it can.
struct Live::Why {
  std::string text;
  bool misdated = false;
};

// Of any value that the store has.
double Live::newest_of(const std::shared_ptr<LiveStream>& stream) {
  if (std::isnan(stream->written.newest)) {
    const auto newest = store_->newest_values(stream->id, kInfinity, 1);
    touch(stream).newest = newest.empty() ? -kInfinity : newest.front().time;
  }
  return stream->written.newest;
}

// A gap that the model cannot cross would cut off everything after it.
std::string Live::gap_problem(const std::shared_ptr<LiveStream>& stream, double raw) {
  const double longest = clock_.longest_gap(), newest = newest_of(stream);
  const auto problem = [&](double gap, const char* where, double other) {
    return fmt::format(
        "lies {} {} the stream's value at {}, and the model can cross {}; one of the two times is "
        "wrong: correct it, or remove that value",
        gap_text(gap), where, clock_.shown(other), gap_text(longest));
  };
  if (newest == -kInfinity) return {};
  if (raw - newest > longest) return problem(raw - newest, "after", newest);
  if (newest - raw <= longest) return {};
  const auto next = store_->values(stream->id, std::nextafter(raw, -kInfinity), kInfinity, 1);
  if (next.empty() || !(next.front().time - raw > longest)) return {};
  return problem(next.front().time - raw, "before", next.front().time);
}

std::string Live::gap_text(double raw) const {
  const double seconds = clock_.seconds_of_raw(raw);
  return seconds > 0 ? span_text(seconds) : fmt::format("{:.6g}", raw);
}

// `present`: seconds since 1970.
Live::Why Live::refusal(const Row& row, const std::shared_ptr<LiveStream>& stream, double origin,
                        double present) {
  const double raw = clock_.raw(row.time, origin);
  if (!std::isfinite(raw)) return {"is not finite"};
  if (!clock_.resolves(raw))
    return {"is so large that the model cannot tell it from the next one; check its unit", true};
  if (stream && raw <= stream->written.base)
    return {"lies before what is still kept of the stream; raise --keep"};
  if (raw < clock_.earliest())
    return {"lies before the model's clock starts; train with data.start=first"};
  const std::optional<double> here = clock_.raw_of_wall(1e6 * present, origin);
  double ahead = -kInfinity;
  if (row.time.wall)
    ahead = row.time.value / 1e6 - present;
  else if (here)
    ahead = (raw - *here) * clock_.seconds_in_unit();
  if (!(ahead > settings_.future)) return {stream ? gap_problem(stream, raw) : "", true};
  constexpr double kNear = 10 * 365.25 * 86400;
  const bool thousandfold = row.time.wall && std::abs(row.time.value / 1e9 - present) < kNear;
  return {fmt::format("lies {} after its arrival{}; --future allows {}", span_text(ahead),
                      thousandfold ? ", as milliseconds do where seconds are expected"
                                   : ": the sender's clock or the unit of its times is wrong",
                      span_text(settings_.future)),
          true};
}

// What is dropped by a sender that reads no answers is not lost without a trace.
void Live::quarantine(const Request& request, const Row& row, double shown,
                      const std::string& why) {
  ++counters_.rejected;
  store_->add_rejected(
      {request.came, "observations", why, row_text(row.stream, shown, row.feature, row.value)});
}

void Live::take(Request& request, Transaction& transaction) {
  Group& group = *request.group;
  Outcome& outcome = group.outcome;
  outcome = {};
  // A clock that was set back refuses nothing that it would have taken before.
  const double present = settings_.clock ? now() : std::max(wall_seconds(), running_seconds());
  std::unordered_map<std::string_view, double> first_date;
  if (!clock_.calendar())
    for (const Row& row : request.rows)
      if (row.time.wall && row.time.value / 1e6 - present <= settings_.future) {
        double& first = first_date.emplace(row.stream, row.time.value).first->second;
        first = std::min(first, row.time.value);
      }
  // Before anything is written it is known whether all of it can be.
  struct Place {
    std::shared_ptr<LiveStream> stream;
    double origin = 0;
    bool taken = false;
  };
  std::vector<Place> places(request.rows.size());
  std::unordered_set<std::string_view> begun;  // streams that this request begins
  bool crowded = false;
  for (std::size_t i = 0; i < request.rows.size(); ++i) {
    const Row& row = request.rows[i];
    Place& place = places[i];
    place.stream =
        i > 0 && row.stream == request.rows[i - 1].stream ? places[i - 1].stream : find(row.stream);
    place.origin = place.stream ? place.stream->written.origin : std::nan("");
    if (std::isnan(place.origin) && row.time.wall && !clock_.calendar()) {
      const auto first = first_date.find(row.stream);
      place.origin = first == first_date.end() ? row.time.value : first->second;
    }
    const Why why = refusal(row, place.stream, place.origin, present);
    std::string field = "time", text;
    if (!why.text.empty()) {
      const double shown = clock_.shown(clock_.raw(row.time, place.origin));
      text = fmt::format("stream '{}': time {} {}", row.stream, shown, why.text);
      if (why.misdated && outcome.refused.kept < kMostQuarantined) {
        quarantine(request, row, shown, text);
        ++outcome.refused.kept;
      }
    } else if (!place.stream && !begun.contains(row.stream)) {
      if (streams() + begun.size() < settings_.most_streams) {
        begun.insert(row.stream);
      } else {
        field = "stream";
        crowded = true;
        text = fmt::format("stream '{}' {}", row.stream, too_many(settings_.most_streams));
      }
    }
    place.taken = text.empty();
    if (!place.taken) outcome.refused.add({row.line, field, text});
  }
  const std::size_t refused = outcome.refused.count;
  if (refused > 0 && (refused == request.rows.size() || group.acceptance == Acceptance::whole)) {
    outcome.kind = crowded ? Outcome::Kind::crowded : Outcome::Kind::invalid;
    outcome.detail = outcome.refused.problems.front().detail;
    return;
  }
  std::vector<Item> own;
  own.reserve(request.rows.size());
  for (std::size_t i = 0; i < request.rows.size(); ++i) {
    if (!places[i].taken) continue;
    const Row& row = request.rows[i];
    auto& [stream, origin, _] = places[i];
    if (!stream) stream = find(row.stream);
    if (!stream) stream = added_stream(row.stream, origin);
    if (std::isnan(stream->written.origin) && !std::isnan(origin)) {
      LiveStream::Written& written = touch(stream);
      written.origin = origin;
      store_->change_stream({stream->id, stream->name, written.origin, written.base, written.first,
                             written.about_text});
    }
    own.push_back({std::move(stream),
                   clock_.raw(row.time, origin),
                   {row.feature, row.value},
                   Put::inserted,
                   request.came,
                   &group,
                   row.line});
  }
  put(request, own, transaction);
}

void Live::put(Request& request, std::vector<Item>& own, Transaction& transaction) {
  Outcome& outcome = request.group->outcome;
  // Of what is in it twice, the last.
  if (!std::is_sorted(own.begin(), own.end(), before))
    std::stable_sort(own.begin(), own.end(), before);
  std::size_t count = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i + 1 < own.size() && !before(own[i], own[i + 1])) {
      ++outcome.unchanged;
      continue;
    }
    if (count != i) own[count] = std::move(own[i]);
    ++count;
  }
  own.erase(own.begin() + static_cast<std::ptrdiff_t>(count), own.end());
  std::vector<KeptValue> values;
  values.reserve(own.size());
  for (const Item& item : own) {
    newest_of(item.stream);
    values.push_back({item.stream->id, item.time,
                      store_feature_[static_cast<std::size_t>(item.observation.feature)],
                      item.observation.value, item.received, false});
  }
  std::vector<Put> outcomes(values.size());
  store_->put(values, outcomes);
  for (std::size_t i = 0; i < own.size();) {
    const std::shared_ptr<LiveStream> stream = own[i].stream;
    LiveStream::Written& written = touch(stream);
    double late_from = kInfinity, newest = written.newest;
    for (; i < own.size() && own[i].stream == stream; ++i) {
      Item& item = own[i];
      item.put = outcomes[i];
      if (item.put == Put::unchanged) {
        ++outcome.unchanged;
      } else {
        ++outcome.stored;
        outcome.corrected += item.put == Put::corrected;
        if (item.time <= written.newest) late_from = std::min(late_from, item.time);
        newest = std::max(newest, item.time);
      }
      transaction.items[stream->shard].push_back(std::move(item));
    }
    written.newest = newest;
    if (late_from == kInfinity) continue;
    forget_states(*stream, late_from);
    add_late(written.late, {transaction.number, late_from});
  }
}

// To the shards, and back to whoever has nothing there.
void Live::pass_on(std::vector<Request>& requests, Transaction& transaction) {
  std::vector<Job> jobs(shards_.size());
  for (Request& request : requests)
    if (request.group) request.group->parts = 1;
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    std::unordered_set<Group*> groups;
    for (const Item& item : transaction.items[s]) groups.insert(item.group);
    for (Request& request : requests)
      if (request.group && groups.contains(request.group.get())) {
        ++request.group->parts;
        jobs[s].groups.push_back(request.group);
      }
    jobs[s].items = std::move(transaction.items[s]);
    jobs[s].commit = transaction.number;
  }
  for (Request& request : requests) {
    if (request.what) {
      if (request.written) request.written({});
      continue;
    }
    const Outcome& outcome = request.group->outcome;
    counters_.values += outcome.stored;
    counters_.unchanged += outcome.unchanged;
    counters_.corrected += outcome.corrected;
  }
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    if (jobs[s].items.empty()) continue;
    {
      const std::lock_guard lock(shards_[s]->mutex);
      shards_[s]->queue.push_back(std::move(jobs[s]));
    }
    shards_[s]->came.notify_one();
  }
  for (Request& request : requests)
    if (request.group) release(*request.group);
}

}  // namespace edict::server
