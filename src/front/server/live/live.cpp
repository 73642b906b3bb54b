#include "front/server/live/live.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <thread>

#include "base/error.h"
#include "front/server/live/stored_streams.h"

namespace edict::server {
namespace {

std::size_t n_shards(const LiveSettings& settings) {
  if (settings.shards > 0) return settings.shards;
  return std::max<std::size_t>(2, std::thread::hardware_concurrency()) - 1;
}

}  // namespace

Live::Live(std::shared_ptr<const Model> model, const LiveSettings& settings,
           std::unique_ptr<Store> store, std::vector<Rule> rules)
    : context_(std::move(model), settings, first_event_number(*store)),
      absorption_(context_),
      rules_given_(!rules.empty()),
      registry_(n_shards(settings), settings.most_streams),
      writer_(context_, registry_, std::move(store)),
      alarms_(context_, writer_),
      shards_(context_, *this, registry_, writer_, alarms_) {
  check_store();
  alarms_.set_rules(std::make_shared<const std::vector<Rule>>(std::move(rules)));
  StoredStreams held = read_streams(writer_.store(), context_, registry_);
  check_times(writer_.store(), clock(), held.names.empty());
  take(std::move(held));
  start();
}

// Whether the store belongs to the model. What should be known of it is a notice.
void Live::check_store() {
  Store& store = writer_.store();
  if (settings().keep > 0 && clock().seconds_in_unit() <= 0)
    throw Error(
        "--keep: it counts from when values came, and the model does not know how long a unit of "
        "its time is; give --time-unit s, min, h or d too");
  check_features(store, intake(), notices_);
  store.begin();
  context_.set_store_features(store.feature_numbers(model().features));
  store.commit();
  if (const std::size_t cut = store.cut_off(context_.fingerprint); cut > 0)
    notices_.push_back(fmt::format(
        "{} of the streams in the store were shortened by --keep under another model; under this "
        "one they know only what is still kept, on the clock that they had",
        cut));
}

// Before anything runs.
void Live::take(StoredStreams held) {
  Store& store = writer_.store();
  notices_.insert(notices_.end(), held.notices.begin(), held.notices.end());
  for (const std::string& notice : notices_)
    store.add_audit({wall_seconds(), "store", "", "", notice});
  if (held.rules && !rules_given_)
    alarms_.set_rules(std::make_shared<const std::vector<Rule>>(std::move(*held.rules)));
  registry_.replace(std::move(held.names));
  alarms_.set_streams(std::move(held.alarm_streams));
  alarms_.set_next_number(held.next_alarm);
  for (std::size_t i = 0; i < registry_.n_shards(); ++i) {
    shards_.at(i).streams = std::move(held.of_shard[i]);
    shards_.at(i).watchful = std::move(held.watchful[i]);
    shards_.at(i).rules = alarms_.rules();
  }
  store.begin();
  alarms_.reserve_numbers(store);
  store.commit();
}

// Another server has written to the store since this one lost its lock: nothing in memory holds.
void Live::read_again(Transaction& transaction) {
  Store& store = transaction.store();
  StoredStreams held = read_streams(store, context_, registry_);
  held.notices.emplace_back("another server wrote meanwhile; everything was read again");
  for (const std::string& notice : held.notices)
    store.add_audit({wall_seconds(), "store", "", "", notice});
  if (held.rules && !rules_given_)
    alarms_.set_rules(std::make_shared<const std::vector<Rule>>(std::move(*held.rules)));
  alarms_.set_next_number(held.next_alarm);
  alarms_.reserve_numbers(store);
  registry_.replace(std::move(held.names));
  alarms_.set_streams(std::move(held.alarm_streams));
  for (std::size_t i = 0; i < registry_.n_shards(); ++i)
    shards_.post(i, [this, rules = alarms_.rules(), streams = std::move(held.of_shard[i]),
                     watchful = std::move(held.watchful[i])](Access, Shard& shard) {
      for (auto& [_, stream] : shard.streams) stream->gone = true;
      shard.streams = streams;
      shard.watchful = watchful;
      shard.rules = rules;
      context_.events.skip();  // who watches fetches everything anew
    });
}

void Live::start() {
  const auto thread = [&] {
    return std::make_unique<TaskThread>(context_, *this, writer_.store().another());
  };
  aside_ = thread();
  // One that takes long does not keep the others waiting.
  for (std::size_t i = 0; i < std::max<std::size_t>(2, registry_.n_shards()); ++i)
    questions_.push_back(thread());
  writer_.start(
      {.deliver = [this](std::size_t shard, Job job) { shards_.deliver(shard, std::move(job)); },
       .read_again = [this](Transaction& transaction) { read_again(transaction); }});
  shards_.start();
  aside_->start();
  for (auto& one : questions_) one->start();
}

Live::~Live() {
  finish();
  aside_->stop();
  shards_.stop();
  shards_.stop_replays();
  for (auto& thread : questions_) thread->stop();
  writer_.change(
      [this](Transaction& transaction) { alarms_.release_numbers(transaction.store()); });
  writer_.stop();
  writer_.store().tidy();
}

// What was taken goes through writer and shards, and questions are answered.
void Live::finish() {
  std::promise<void> written, seen;
  writer_.change([](Transaction&) {}, [&](const Result<>&) { written.set_value(); });
  written.get_future().wait();
  on_every_shard([&](Access, Streams&, std::size_t remaining) {
    if (remaining == 0) seen.set_value();
  });
  seen.get_future().wait();
  while (context_.pending > 0 || context_.asides > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// ---- in ----

Outcome Live::submit_and_wait(std::vector<Row> rows, Acceptance acceptance) {
  std::promise<Outcome> promise;
  submit(
      std::move(rows), [&](const Outcome& outcome) { promise.set_value(outcome); }, acceptance);
  return promise.get_future().get();
}

void Live::write(std::function<void(Store&)> what, WhenDone<> done, bool alone) {
  writer_.change([what = std::move(what)](Transaction& transaction) { what(transaction.store()); },
                 std::move(done), alone);
}

void Live::reject(const std::string& source, const std::string& payload,
                  const std::string& detail) {
  ++context_.counters.rejected;
  std::promise<Result<>> promise;
  write(
      [&](Store& store) {
        store.add_rejected({wall_seconds(), source, detail, payload.substr(0, 1000)});
      },
      [&](const Result<>& written) { promise.set_value(written); });
  const Result<> written = promise.get_future().get();
  if (!written) throw Error(written.failure().text);
}

void Live::on_stream(const std::string& name, std::function<void(Access, LiveStream*)> task) {
  ++context_.asides;
  shards_.post(
      registry_.shard_of(name), [this, name, task = std::move(task)](Access, Shard& shard) {
        const auto ask = [this, task](LiveStream* stream) {
          const std::shared_ptr<LiveStream> copy = stream ? stream->snapshot() : nullptr;
          questions_[next_question_++ % questions_.size()]->post([this, task, copy](Access access) {
            try {
              task(access, copy.get());
            } catch (const std::exception&) {
              ++context_.counters.faults;
            }
            --context_.asides;
          });
        };
        const auto found = shard.streams.find(name);
        if (found == shard.streams.end()) return ask(nullptr);
        const std::shared_ptr<LiveStream> held = found->second;
        if (!held->loaded && !held->busy) shards_.start_replay(held, kInfinity);
        Shards::when_ready(held, ask);
      });
}

}  // namespace edict::server
