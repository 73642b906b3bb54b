// Irregular series in compressed sparse form: series → events (a time) → observed (feature, value).
// Memory is proportional to what was observed, never to time × features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace edict {

struct Observation {
  std::int32_t feature;
  double value;
};

struct Dataset {
  static constexpr std::int32_t kNone = -1;  // a series without label or group

  std::vector<std::string> features;
  std::vector<std::string> statics;  // names of the static covariates, without "static:"
  std::vector<std::string> classes;  // label texts, sorted (numerically if all are numbers)
  std::vector<std::string> groups;

  // One entry a series.
  std::vector<std::string> ids;
  std::vector<std::int32_t> labels;    // index into classes, or kNone
  std::vector<std::int32_t> group_of;  // index into groups, or kNone
  std::vector<double> static_values;   // series × statics, row by row; NaN where missing

  std::vector<std::size_t> first_event{0};        // series + 1
  std::vector<double> times;                      // ascending within a series
  std::vector<std::size_t> first_observation{0};  // events + 1
  std::vector<Observation> observations;          // by feature within an event

  std::size_t size() const { return ids.size(); }
  std::size_t events() const { return times.size(); }
  bool labelled() const { return !classes.empty(); }

  // The events of series i are [first_event[i], first_event[i + 1]).
  std::size_t events(std::size_t series) const {
    return first_event[series + 1] - first_event[series];
  }
  std::span<const Observation> observed(std::size_t event) const {
    return {observations.data() + first_observation[event],
            first_observation[event + 1] - first_observation[event]};
  }
  std::span<const double> covariates(std::size_t series) const {
    return {static_values.data() + series * statics.size(), statics.size()};
  }

  // Appending goes in order: a series, then each of its events followed by that event's
  // observations.
  void add_series(std::string id, std::int32_t label = kNone, std::int32_t group = kNone,
                  std::span<const double> covariates = {});
  void add_event(double time);
  void add_observation(std::int32_t feature, double value);
};

}  // namespace edict
