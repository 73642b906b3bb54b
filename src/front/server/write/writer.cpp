#include "front/server/write/writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_set>

#include "base/not_finite.h"
#include "front/server/write/admission.h"

namespace edict::server {
namespace {

constexpr std::size_t kCommitValues = 50000;  // at most this much waits for one disk

// In the order of the store's keys.
bool before(const Item& a, const Item& b) {
  if (a.stream->id != b.stream->id) return a.stream->id < b.stream->id;
  if (a.time != b.time) return a.time < b.time;
  return a.observation.feature < b.observation.feature;
}

// Of what is in it twice, the last stays; how many went.
std::size_t sort_once(std::vector<Item>& items) {
  if (!std::is_sorted(items.begin(), items.end(), before))
    std::stable_sort(items.begin(), items.end(), before);
  std::size_t count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i + 1 < items.size() && !before(items[i], items[i + 1])) continue;
    if (count != i) items[count] = std::move(items[i]);
    ++count;
  }
  const std::size_t gone = items.size() - count;
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(count), items.end());
  return gone;
}

}  // namespace

Writer::Writer(LiveContext& context, Registry& registry, std::unique_ptr<Store> store)
    : context_(context), registry_(registry), store_(std::move(store)) {}

void Writer::start(Outlets outlets) {
  outlets_ = std::move(outlets);
  generation_ = store_->generation();
  thread_ = std::thread([this] { run(); });
}

void Writer::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(queue_mutex_);
    stopping_ = true;
  }
  came_.notify_all();
  thread_.join();
}

// ---- in ----

void Writer::submit(std::vector<Row> rows, std::function<void(const Outcome&)> done,
                    Acceptance acceptance) {
  const std::size_t count = rows.size();
  if (count == 0) return done({});
  const std::size_t waiting = context_.pending.fetch_add(count);
  if (waiting > 0 && waiting + count > context_.settings.most_pending) {
    context_.pending -= count;
    ++context_.counters.refused_full;
    Outcome full;
    full.kind = Outcome::Kind::full;
    full.detail = fmt::format("{} values wait to be stored; try again in a moment", waiting);
    return done(full);
  }
  Request request;
  request.rows = std::move(rows);
  request.group = std::make_shared<Group>();
  request.group->rows = count;
  request.group->acceptance = acceptance;
  request.group->done = std::move(done);
  request.came = context_.now();
  push(std::move(request));
}

void Writer::change(std::function<void(Transaction&)> what, WhenDone<> changed, bool alone) {
  Request request;
  request.change = std::move(what);
  request.changed = std::move(changed);
  request.alone = alone;
  push(std::move(request));
}

void Writer::push(Request request) {
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back(std::move(request));
  }
  came_.notify_one();
}

std::string Writer::store_problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_.empty() ? store_->damage() : problem_;
}

void Writer::set_problem(const std::string& problem) {
  const std::lock_guard lock(problem_mutex_);
  problem_ = problem;
}

// ---- the thread ----

void Writer::run() {
  while (true) {
    std::vector<Request> requests = next_requests();
    if (requests.empty()) return;
    commit(requests);
  }
}

// Those of the next transaction; none when it is to end.
std::vector<Request> Writer::next_requests() {
  std::vector<Request> requests;
  std::unique_lock lock(queue_mutex_);
  for (bool tidied = commit_number_ == 0; queue_.empty() && !stopping_;) {
    if (tidied) {
      came_.wait(lock);
    } else if (came_.wait_for(lock, std::chrono::seconds(2)) == std::cv_status::timeout) {
      lock.unlock();
      store_->tidy();
      tidied = true;
      lock.lock();
    }
  }
  for (std::size_t values = 0; !queue_.empty() && values < kCommitValues;) {
    const bool alone = queue_.front().alone;
    if (alone && !requests.empty()) break;
    values += queue_.front().rows.size();
    requests.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (alone) break;
  }
  return requests;
}

void Writer::commit(std::vector<Request>& requests) {
  const auto began = std::chrono::steady_clock::now();
  Transaction transaction(++commit_number_, *store_, registry_);
  try {
    begin(transaction);
    for (Request& request : requests) fill(request, transaction);
    store_->commit();
  } catch (const std::exception& e) {
    store_->rollback();
    transaction.undo();
    // One of them may be to blame for all.
    if (requests.size() > 1) return commit_each(requests);
    return fail(requests.front(), e.what());
  }
  ++context_.counters.commits;
  context_.counters.commit_seconds =
      context_.counters.commit_seconds +
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  set_problem("");
  context_.committed = transaction.number();
  transaction.show();
  pass_on(requests, transaction);
}

void Writer::begin(Transaction& transaction) {
  store_->begin();
  if (const std::uint64_t generation = store_->generation(); generation != generation_) {
    outlets_.read_again(transaction);
    generation_ = generation;
  }
}

void Writer::fill(Request& request, Transaction& transaction) {
  if (request.change)
    request.change(transaction);
  else
    take(request, transaction);
}

void Writer::commit_each(std::vector<Request>& requests) {
  for (Request& request : requests) {
    std::vector<Request> alone;
    alone.push_back(std::move(request));
    commit(alone);
  }
}

void Writer::fail(Request& request, const std::string& problem) {
  ++context_.counters.store_failures;
  set_problem(problem);
  if (request.change) {
    if (request.changed) request.changed(Failure{Failure::Kind::store, problem});
    return;
  }
  Group& group = *request.group;
  group.outcome = {};
  group.fail(problem);
  context_.pending -= group.rows;
  group.done(group.outcome);
}

// ---- values ----

void Writer::take(Request& request, Transaction& transaction) {
  Group& group = *request.group;
  group.outcome = {};
  std::vector<Item> own = items_of(request, transaction);
  if (group.outcome.kind == Outcome::Kind::stored) put(request, own, transaction);
}

// What can be taken, in streams that are there now. Where it is nothing the outcome says so.
std::vector<Item> Writer::items_of(Request& request, Transaction& transaction) {
  Group& group = *request.group;
  Outcome& outcome = group.outcome;
  Admission admission(context_, registry_, transaction, request);
  std::vector<Admission::Place> places = admission.places();
  const std::size_t refused = outcome.refused.count;
  if (refused > 0 && (refused == request.rows.size() || group.acceptance == Acceptance::whole)) {
    outcome.kind = admission.is_crowded() ? Outcome::Kind::crowded : Outcome::Kind::invalid;
    outcome.detail = outcome.refused.problems.front().detail;
    return {};
  }
  std::vector<Item> own;
  own.reserve(request.rows.size());
  for (std::size_t i = 0; i < request.rows.size(); ++i) {
    auto& [stream, origin, taken] = places[i];
    if (!taken) continue;
    const Row& row = request.rows[i];
    if (!stream) stream = registry_.find(row.stream);
    if (!stream) stream = transaction.add_stream(row.stream, origin);
    if (std::isnan(stream->written.origin) && !std::isnan(origin)) {
      transaction.touch(stream).origin = origin;
      transaction.store_stream(*stream);
    }
    // Zeros have no sign, because SQLite keeps none: the state is the same after a restart.
    own.push_back({std::move(stream),
                   context_.clock.raw(row.time, origin) + 0.0,
                   {row.feature, row.value + 0.0},
                   Put::inserted,
                   request.came,
                   &group,
                   row.line});
  }
  return own;
}

void Writer::put(Request& request, std::vector<Item>& own, Transaction& transaction) {
  Outcome& outcome = request.group->outcome;
  outcome.unchanged += sort_once(own);
  std::vector<KeptValue> values;
  values.reserve(own.size());
  for (const Item& item : own) {
    transaction.newest_of(item.stream);
    values.push_back({item.stream->id, item.time,
                      context_.store_feature[static_cast<std::size_t>(item.observation.feature)],
                      item.observation.value, item.received, false});
  }
  std::vector<Put> outcomes(values.size());
  store_->put(values, outcomes);
  for (std::size_t i = 0; i < own.size();) {
    const std::shared_ptr<LiveStream> stream = own[i].stream;
    LiveStream::Written& written = transaction.touch(stream);
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
    if (late_from < kInfinity) transaction.change_past(stream, late_from);
  }
}

// ---- out ----

// To the shards, and back to whoever has nothing there.
void Writer::pass_on(std::vector<Request>& requests, Transaction& transaction) {
  std::vector<Job> jobs(registry_.n_shards());
  for (Request& request : requests)
    if (request.group) request.group->parts = 1;
  for (std::size_t s = 0; s < jobs.size(); ++s) {
    std::unordered_set<Group*> groups;
    for (const Item& item : transaction.items[s]) groups.insert(item.group);
    for (Request& request : requests)
      if (request.group && groups.contains(request.group.get())) {
        ++request.group->parts;
        jobs[s].groups.push_back(request.group);
      }
    jobs[s].items = std::move(transaction.items[s]);
    jobs[s].commit = transaction.number();
  }
  for (Request& request : requests) {
    if (request.change) {
      if (request.changed) request.changed({});
      continue;
    }
    const Outcome& outcome = request.group->outcome;
    context_.counters.values += outcome.stored;
    context_.counters.unchanged += outcome.unchanged;
    context_.counters.corrected += outcome.corrected;
  }
  for (std::size_t s = 0; s < jobs.size(); ++s)
    if (!jobs[s].items.empty()) outlets_.deliver(s, std::move(jobs[s]));
  for (Request& request : requests)
    if (request.group) request.group->release(context_);
}

}  // namespace edict::server
