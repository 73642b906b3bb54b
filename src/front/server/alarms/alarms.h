// Alarms are rules on the distribution, and what became of each rule on each stream:
//
//   normal → pending → firing → recovering → normal
//
// `pending` and `recovering` are how long a condition must hold before it fires, and be gone before
// it is over. An alarm exists from the moment its condition holds until it is normal again.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "front/server/ingest/incoming.h"
#include "front/server/ingest/stream_clock.h"

namespace edict::server {

inline constexpr int kCrossingPoints = 16;  // moments at which a crossing is looked for

struct Rule {
  enum class Kind : std::uint8_t {
    outside,      // the newest observation lies outside the central interval of what was expected
    crosses,      // the probability of being beyond a limit soon
    uncertainty,  // the share of the model's own uncertainty in the predictive deviation
    silence,      // nothing was received
    fault,        // values could not be absorbed or read; of every stream, without a rule
  };
  enum class Priority : std::uint8_t { low, medium, high };

  std::string name;
  Kind kind = Kind::crosses;
  Priority priority = Priority::medium;
  std::int32_t feature = -1;  // −1: any
  double level = 0.99;        // outside
  std::optional<double> above, below;
  double within = 0;       // crosses and uncertainty: how far ahead, in the model's unit
  double probability = 0;  // crosses
  double ratio = 0;        // uncertainty
  double silent = 0;       // silence: seconds
  double pending = 0, recovering = 0;  // seconds of the server's clock
  std::string streams = "*";           // which streams: a pattern with * and ?

  bool applies_to(std::string_view stream) const;
};

// A file of rules in TOML ([[rule]] tables) or JSON ({"rules":[…]}), by what its text looks like.
// Throws BadInput, with the place of the rule as line.
std::vector<Rule> read_rules(std::string_view source, const Model& model);
nlohmann::json to_json(const std::vector<Rule>& rules, const Model& model);

struct Alarm {
  enum class State : std::uint8_t { normal, pending, firing, recovering };
  struct Acknowledgement {
    std::string by, reason;
    double at = 0;
  };

  std::int64_t id = 0;
  std::string rule, kind, feature;
  Rule::Priority priority = Rule::Priority::medium;
  State state = State::pending;
  double since = 0;    // when its condition began to hold, by the server's clock
  double changed = 0;  // when it came to its state
  std::string text;    // "P(MAP < 65 within 30 min) = 0.37"
  double probability = 0;
  std::optional<double> value;
  std::optional<Acknowledgement> acknowledged;
};

struct AlarmOfStream {
  Alarm alarm;
  std::string stream;
};
// Whether somebody should look at this one first: not acknowledged, of a higher priority, newer.
bool is_more_urgent(const AlarmOfStream& a, const AlarmOfStream& b);

// What a rule found on a stream.
struct Finding {
  bool holds = false;
  std::string text;
  double probability = 0;
  std::optional<double> value;
  std::int32_t feature = -1;
};

// The state after a finding at time `now`. Clocks that were set back only lengthen a wait.
Alarm::State next_state(const Rule& rule, Alarm::State state, double changed, bool holds,
                        double now);

std::string_view name_of(Alarm::State state);
std::string_view name_of(Rule::Kind kind);
std::string_view name_of(Rule::Priority priority);

nlohmann::json to_json(const Alarm& alarm, const std::string& stream);
Alarm alarm_from_json(const nlohmann::json& body);

// 30 and an hour: "30 min"; without a unit the number alone.
std::string duration_text(double duration, const StreamClock& clock);

}  // namespace edict::server
