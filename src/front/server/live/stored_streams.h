// What a store holds when a server begins to work on it, or finds that another one has: streams,
// alarms, rules, and whether all of it belongs to the model at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "front/server/live/live_context.h"
#include "front/server/live/messages.h"
#include "front/server/live/registry.h"
#include "front/server/store/store.h"

namespace edict::server {

struct StoredStreams {
  Streams names;
  std::vector<Streams> of_shard;
  std::vector<std::unordered_set<LiveStream*>> watchful;  // of each shard: with an alarm
  std::unordered_map<std::int64_t, std::string> alarm_streams;
  std::int64_t next_alarm = 1;
  std::optional<std::vector<Rule>> rules;  // none where there are none, or they cannot be used
  std::vector<std::string> notices;
};
StoredStreams read_streams(Store& store, const LiveContext& context, const Registry& registry);

// A store of another model's features would look empty: Error. What it has beside those of the
// model is said in `notices`.
void check_features(Store& store, const Intake& intake, std::vector<std::string>& notices);
// Times in the store are raw: numbers of one unit, or dates. Those of another would be mixed with
// them, and nothing would tell which is which: Error. `is_new`: there are no streams.
void check_times(Store& store, const StreamClock& clock, bool is_new);
// The number before the first event: ascending over restarts.
std::uint64_t first_event_number(Store& store);

std::string about_text(const StreamAbout& about, const Model& model);

}  // namespace edict::server
