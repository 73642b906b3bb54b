// What the server holds of one stream in memory: its newest state and the one before its newest
// event, so that a second value of the same moment costs one event. About a kilobyte.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ask/stream_engine.h"
#include "front/server/alarms/alarms.h"
#include "front/server/store/checkpoints.h"

namespace edict::server {

// What somebody told of a stream.
struct StreamAbout {
  std::vector<double> statics;  // the model's covariates, NaN where missing; empty: all missing
  std::string labels = "{}";    // JSON, as it was given
};

// How far outside of what was expected a value lay.
struct Outside {
  std::int32_t feature = 0;
  double level = 0;  // of the central interval that just holds it
  double value = 0;
};

// A stream after some event, and what leads to it: what a question needs, and all that a replay
// makes anew.
struct StreamPast {
  std::int64_t id = 0;
  std::string name;
  std::shared_ptr<const StreamAbout> about;  // nullptr: nothing was told
  // Of the first event, where that was removed; else NaN.
  double removed_first = std::numeric_limits<double>::quiet_NaN();

  StreamState state;   // after the newest event; never begun before any
  StreamState before;  // before it
  std::vector<Observation> newest;
  double first = 0;                                               // raw time of the first event
  double time = -std::numeric_limits<double>::infinity();         // raw, of the newest event
  double before_time = -std::numeric_limits<double>::infinity();  // and of the one before it
  double received = 0;  // when something came last, by the server's clock
  std::int64_t events = 0;
  std::string fault;             // why its newest events could not be absorbed
  std::vector<Outside> outside;  // the newest values
};

struct LiveStream : StreamPast, std::enable_shared_from_this<LiveStream> {
  std::size_t shard = 0;

  // ---- the shard's ----
  bool loaded = false;
  bool listed = false;        // among the streams of its shard
  bool gone = false;          // removed, or read anew from the store
  std::uint64_t through = 0;  // of all commits up to this one the shard knows what they changed
  Checkpoints checkpoints;
  double pruned = -std::numeric_limits<double>::infinity();  // the base that was asked for
  std::vector<Alarm> alarms;                                 // none that is normal
  bool outside_judged = false;  // else `outside` has what came since its rules were looked at
  double judged = 0;            // when they were
  double crossing = 0;          // the largest probability that a crossing rule found, and of which
  std::int32_t crossing_feature = -1;
  std::string crossing_rule, crossing_text;
  bool replayed = false;  // since it was told of last

  // While its past is absorbed again elsewhere, what comes waits.
  bool busy = false;
  double again = std::numeric_limits<double>::infinity();  // and from here once more
  struct Waiting;                                          // messages.h
  std::vector<std::shared_ptr<Waiting>> waiting;
  std::vector<std::function<void(LiveStream*)>> tasks;

  // What is to be absorbed in order, in the batch at hand.
  struct Event {
    double time;
    std::vector<Observation> observed;  // by feature
  };
  std::vector<Event> coming;
  double late_from = std::numeric_limits<double>::infinity();  // of it

  // ---- the writer's; what a transaction changed is undone with it ----
  struct Written {
    double origin = std::numeric_limits<double>::quiet_NaN();
    double base = -std::numeric_limits<double>::infinity();
    double first = std::numeric_limits<double>::quiet_NaN();     // where base is finite
    double newest = std::numeric_limits<double>::quiet_NaN();    // time of a value; NaN: unknown
    double kept_time = std::numeric_limits<double>::infinity();  // no state kept is later than this
    std::vector<LateCommit> late;
    std::string about_text = "{}";
    bool removed = false;
  };
  Written written;
  // `written.origin`, for the shard.
  std::atomic<double> origin{std::numeric_limits<double>::quiet_NaN()};

  // How soon somebody should look: probabilities below 1, firing alarms above.
  double urgency() const;
  // What a question sees of it.
  std::unique_ptr<LiveStream> snapshot() const;
};

}  // namespace edict::server
