// What the server holds of one stream in memory: its newest state and the one before its newest
// event, so that a second value of the same moment costs one event. About a kilobyte.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "edict/model/stream_engine.h"
#include "edict/server/alarms.h"

namespace edict::server {

// What somebody told of a stream.
struct StreamAbout {
  std::vector<double> statics;  // the model's covariates, NaN where missing; empty: all missing
  std::string labels = "{}";    // JSON, as it was given
};

struct LiveStream {
  std::int64_t id = 0;
  std::string name;
  std::size_t shard = 0;

  // ---- the shard's ----
  bool loaded = false;
  StreamState state;   // after the newest event; never begun before any
  StreamState before;  // before it
  std::vector<Observation> newest;
  double first = 0;                                               // raw time of the first event
  double time = -std::numeric_limits<double>::infinity();         // raw, of the newest event
  double before_time = -std::numeric_limits<double>::infinity();  // and of the one before it
  double received = 0;  // when something came last, by the server's clock
  std::int64_t events = 0;
  std::int32_t unkept = 0;                                   // events since a state was kept
  std::uint64_t through = 0;                                 // the last commit that is absorbed
  double pruned = -std::numeric_limits<double>::infinity();  // the base that was asked for
  std::string fault;                         // why its newest events could not be absorbed
  std::shared_ptr<const StreamAbout> about;  // nullptr: nothing was told
  std::vector<Alarm> alarms;                 // none that is normal
  std::vector<std::pair<std::int32_t, double>> outside;  // central levels of the newest values
  double judged = 0;                                     // when its rules were looked at last
  double crossing = 0;  // the largest probability that a crossing rule found, and of which
  std::int32_t crossing_feature = -1;
  std::string crossing_rule, crossing_text;
  bool replayed = false;  // since it was told of last

  // What is to be absorbed in order, in the batch at hand.
  struct Event {
    double time;
    std::vector<Observation> observed;  // by feature
  };
  std::vector<Event> coming;

  // ---- the writer's ----
  double origin = std::numeric_limits<double>::quiet_NaN();
  double base = -std::numeric_limits<double>::infinity();
  std::uint64_t last_commit = 0;
  double kept_time = std::numeric_limits<double>::infinity();  // no state kept is later than this
  std::string about_text = "{}";
  bool removed = false;

  // How soon somebody should look: probabilities below 1, firing alarms above.
  double urgency() const;
};

}  // namespace edict::server
