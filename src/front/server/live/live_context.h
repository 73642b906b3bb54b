// What all parts of a live server share: how it was started, the model with its clock and features,
// what is counted, and what watchers see.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ask/stream_engine.h"
#include "front/server/alarms/event_log.h"
#include "front/server/ingest/incoming.h"
#include "front/server/ingest/stream_clock.h"

namespace edict::server {

struct LiveSettings {
  std::size_t shards = 0;             // 0: one a processor, but one
  std::size_t most_pending = 200000;  // values that were taken and are not answered yet
  std::size_t most_streams = 100000;  // a name that is new is refused beyond
  std::string time_unit = {};         // of a model of plain numbers: s, min, h, d
  Guard guard = {};
  double keep = 0;            // in the model's unit, since it was received; 0: everything
  double alarm_interval = 1;  // seconds between two judgements of one stream
  double future = 300;        // seconds that a date may lie after its arrival
  // Seconds since 1970 by the server's clock, for tests.
  std::function<double()> clock = {};
};

// What is counted, for /metrics.
struct Counters {
  std::atomic<std::uint64_t> values{0}, unchanged{0}, corrected{0}, late{0}, events{0}, replays{0},
      commits{0}, refused_full{0}, store_failures{0}, faults{0}, rejected{0}, alarms{0},
      replayed_events{0};
  std::atomic<double> commit_seconds{0};
};

struct LiveContext {
  // `first_event`: the number before that of the first event.
  LiveContext(std::shared_ptr<const Model> with, const LiveSettings& given,
              std::uint64_t first_event);

  // Seconds since 1970, by a clock that is never set (running_seconds).
  double now() const;
  // The model's number of a feature that the store has, or −1.
  std::int32_t model_feature(std::int32_t kept) const {
    const auto found = model_feature_of.find(kept);
    return found == model_feature_of.end() ? -1 : found->second;
  }
  // Numbers that the store gave to the model's features.
  void set_store_features(std::vector<std::int32_t> numbers);
  const std::string& feature_name(std::int32_t feature) const {
    return model->features[static_cast<std::size_t>(feature)];
  }
  // A value as it is kept among the rejected ones.
  std::string row_text(const std::string& stream, double shown, std::int32_t feature,
                       double value) const;
  // A duration, raw, as people say it.
  std::string gap_text(double raw) const;

  const std::shared_ptr<const Model> model;
  const LiveSettings settings;
  const StreamClock clock;
  const Intake intake;
  const std::uint64_t fingerprint;
  std::vector<std::int32_t> store_feature;                // of a feature of the model
  std::map<std::int32_t, std::int32_t> model_feature_of;  // and back

  mutable Counters counters;
  EventLog events;
  std::atomic<std::size_t> pending{0};      // values that were taken and are not answered
  std::atomic<std::size_t> asides{0};       // replays and questions that are not over
  std::atomic<std::uint64_t> committed{0};  // the last commit that readers of the store see
};

// Seconds since 1970.
double wall_seconds();
// The same as it was when the program began, moved on by a clock that is never set: durations are
// measured by it, so that a step of the wall clock neither hides a silence nor makes one up.
double running_seconds();

std::string span_text(double seconds);

}  // namespace edict::server
