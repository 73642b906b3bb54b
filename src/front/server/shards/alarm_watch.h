// Alarms of streams: rules are held against distributions, and what they find is published and
// kept. What belongs to a shard runs on the shard's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "front/server/live/live_context.h"
#include "front/server/shards/absorption.h"
#include "front/server/shards/shard.h"
#include "front/server/write/writer.h"

namespace edict::server {

class AlarmWatch {
 public:
  using Rules = std::shared_ptr<const std::vector<Rule>>;
  // Streams that must be read from the store before they can be judged.
  using Unread = std::vector<std::shared_ptr<LiveStream>>;

  AlarmWatch(LiveContext& context, Writer& writer)
      : context_(context), absorption_(context), writer_(writer) {}

  // ---- any thread ----
  Rules rules() const;
  void set_rules(Rules rules);
  // The stream of an alarm; empty where there is no alarm of this number.
  std::string stream_of(std::int64_t id) const;
  void set_streams(std::unordered_map<std::int64_t, std::string> streams);
  // A stream goes, and its alarms with it.
  void forget(const std::vector<Alarm>& alarms);

  // ---- the writer's thread, or before it starts ----
  // A number that was given is never given again, also after a kill: some are reserved before any
  // of them is used.
  void reserve_numbers(Store& store);
  // None beyond those that were used.
  void release_numbers(Store& store);
  // Numbers before this one were given by another server.
  void set_next_number(std::int64_t next);

  // ---- a shard's thread ----
  Unread judge(Shard& shard, const std::vector<LiveStream*>& streams, double now);
  Unread judge_silence(Shard& shard, double now);

 private:
  double judged_from(const LiveStream& stream) const;
  Finding found_outside(const LiveStream& stream, const Rule& rule) const;
  Finding found_crossing(StreamEngine& engine, const LiveStream& stream, const Rule& rule) const;
  Finding found_uncertainty(StreamEngine& engine, const LiveStream& stream, const Rule& rule) const;
  Finding found(StreamEngine& engine, const LiveStream& stream, const Rule& rule) const;
  void judge_rules(Shard& shard, LiveStream& stream, double now);
  void end_alarms_without_rules(Shard& shard, LiveStream& stream, double now);
  void advance(Shard& shard, LiveStream& stream, const Rule& rule, const Finding& finding,
               double now);
  Alarm& begin_alarm(LiveStream& stream, const Rule& rule, double now);
  void keep(const std::shared_ptr<LiveStream>& stream, const Alarm& alarm, double now);

  LiveContext& context_;
  const Absorption absorption_;
  Writer& writer_;
  std::atomic<std::int64_t> next_{1};
  std::int64_t reserved_ = 0;  // the writer's

  mutable std::mutex mutex_;  // of the following
  Rules rules_ = std::make_shared<const std::vector<Rule>>();
  std::unordered_map<std::int64_t, std::string> streams_;
};

}  // namespace edict::server
