#include "ask/clips.h"

namespace edict {
namespace {

// For each stop, the event of the data that it absorbs: stops are queries and events, both in order
// of time, so it is the one after all that were absorbed before.
std::vector<std::size_t> events_of(const Dataset& data, std::size_t series,
                                   const Timeline<float>& timeline) {
  std::vector<std::size_t> events;
  std::size_t next = data.first_event[series];
  for (const auto& stop : timeline.stops) {
    events.push_back(next);
    next += (stop.what & Timeline<float>::kAbsorb) != 0;
  }
  return events;
}

// The place of a feature's observation at an event that has one.
std::size_t observation_of(const Dataset& data, std::size_t event, std::int32_t feature) {
  std::size_t k = data.first_observation[event];
  while (data.feature[k] != feature) ++k;
  return k;
}

}  // namespace

std::vector<Clip> clips_of(const Model& model, const Dataset& data, std::size_t series,
                           const Timeline<float>& timeline, std::span<const Clipped> clipped) {
  std::vector<Clip> clips;
  if (clipped.empty()) return clips;
  const std::vector<std::size_t> events = events_of(data, series, timeline);
  for (const Clipped& clip : clipped) {
    const auto j = static_cast<std::size_t>(clip.feature);
    const std::size_t event = events[clip.stop];
    // The value as it stands in the data: what went through the model's units and back differs in
    // its last digits.
    const std::size_t k = observation_of(data, event, clip.feature);
    clips.push_back({k, data.times[event], j, data.value[k],
                     model.protocol.standardisation.to_raw(j, clip.used), clip.sigmas});
  }
  return clips;
}

}  // namespace edict
