// Where streams live: each belongs to one shard, by a hash of its name, which absorbs what comes in
// order. What comes late or corrected is sent to the replays, and waits until its stream is back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "front/server/live/live_context.h"
#include "front/server/shards/absorption.h"
#include "front/server/shards/alarm_watch.h"
#include "front/server/shards/replays.h"
#include "front/server/shards/shard.h"
#include "front/server/write/state_keeper.h"
#include "front/server/write/writer.h"

namespace edict::server {

class Shards {
 public:
  Shards(LiveContext& context, Live& live, const Registry& registry, Writer& writer,
         AlarmWatch& alarms);
  ~Shards() { stop(); }
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  // Before they start.
  Shard& at(std::size_t shard) { return *shards_[shard]; }
  void start();
  // They do what waits, and end.
  void stop();
  void stop_replays() { replays_.stop(); }

  // ---- any thread ----
  void deliver(std::size_t shard, Job job);
  void post(std::size_t shard, std::function<void(Access, Shard&)> task);
  void on_every(std::function<void(Access, Streams&, std::size_t remaining)> task);

  // ---- the thread of a stream's shard ----
  // Only what is listed is found by questions, alarms and the overview.
  static void list(Shard& shard, const std::shared_ptr<LiveStream>& stream);
  // It is absorbed again from the newest kept state before a raw time. A replay that is under way
  // already is followed by another.
  void start_replay(const std::shared_ptr<LiveStream>& stream, double before);
  // Calls a task with the stream as it is when nothing of it is under way, or nullptr where it has
  // gone.
  static void when_ready(const std::shared_ptr<LiveStream>& stream,
                         std::function<void(LiveStream*)> task);

 private:
  void run(Shard& shard);
  static bool next_jobs(Shard& shard, std::vector<Job>& jobs);
  void look_after(Shard& shard);
  void load(const AlarmWatch::Unread& streams);

  // ---- shards_absorb.cpp ----
  void absorb(Shard& shard, std::vector<Job>& jobs);
  void sort_in(Shard& shard, std::vector<Job>& jobs, std::vector<LiveStream*>& touched);
  void meet(Shard& shard, const Item& item, std::vector<std::shared_ptr<LiveStream>>& elsewhere);
  bool place(Item& item);
  void send_elsewhere(std::vector<Job>& jobs,
                      const std::vector<std::shared_ptr<LiveStream>>& streams);
  void refuse_left_out(const std::vector<LeftOut>& left, std::vector<Job>& jobs);
  void look_at(Shard& shard, const std::vector<LiveStream*>& touched);
  void fail(const std::vector<LiveStream*>& touched, std::vector<Job>& jobs,
            const std::string& why);
  bool is_near(const LiveStream& stream, double raw) const;
  static bool judges_outside(const Shard& shard);
  void publish(LiveStream& stream);

  // ---- shards_replay.cpp ----
  void end_replay(Shard& shard, Replay& replay);
  void take_back(Shard& shard, const std::shared_ptr<LiveStream>& stream, Replay& replay);
  void catch_up(Shard& shard, const std::shared_ptr<LiveStream>& stream);
  void settle(LiveStream& stream, const Replay& replay);
  void end_waiting(const LiveStream::Waiting& waiting, const std::vector<LeftOut>& left);
  void fail_waiting(LiveStream& stream, const std::string& why);
  void refuse(const std::shared_ptr<LiveStream>& stream, const Item& item, const std::string& why);

  LiveContext& context_;
  Live& live_;
  Writer& writer_;
  AlarmWatch& alarms_;
  const Absorption absorption_;
  StateKeeper keeper_;
  std::vector<std::unique_ptr<Shard>> shards_;
  Replays replays_;
};

// Puts a value where it belongs among what is to be absorbed.
void put_event(std::vector<LiveStream::Event>& events, double time, const Observation& o);

}  // namespace edict::server
