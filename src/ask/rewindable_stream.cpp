#include "ask/rewindable_stream.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace edict {

RewindableStream::RewindableStream(StreamEngine& engine, StreamState start, std::size_t events)
    : engine_(engine), state_(std::move(start)), events_(std::max<std::size_t>(1, events)) {}

auto RewindableStream::observe(double time, std::span<const Observation> observed) -> Outcome {
  if (observed.empty()) return Outcome::unchanged;
  // At the time of an event that was forgotten nobody knows any more what was observed.
  if (time < oldest() || (forgotten_ && time == oldest()))
    throw Error(
        fmt::format("time {}: this stream can only go back to what comes {} {}; keep more "
                    "events",
                    time, forgotten_ ? "after" : "from", oldest()));
  // The event it belongs to, or before which a new one is to be put.
  const auto later = [](const Kept& kept, double t) { return kept.time < t; };
  const auto at = std::lower_bound(kept_.begin(), kept_.end(), time, later) - kept_.begin();
  std::deque<Kept> events(kept_.begin() + at, kept_.end());
  if (events.empty() || events.front().time != time)
    events.push_front({events.empty() ? state_ : events.front().before, time, {}});
  std::vector<Observation>& own = events.front().observed;
  const std::vector<Observation> before = own;
  for (const Observation& o : observed) {
    const auto place = std::lower_bound(
        own.begin(), own.end(), o,
        [](const Observation& a, const Observation& b) { return a.feature < b.feature; });
    if (place != own.end() && place->feature == o.feature)
      place->value = o.value;
    else
      own.insert(place, o);
  }
  const bool same = std::equal(own.begin(), own.end(), before.begin(), before.end(),
                               [](const Observation& a, const Observation& b) {
                                 return a.feature == b.feature && a.value == b.value;
                               });
  if (same) return Outcome::unchanged;
  const bool in_order = events.size() == 1 && before.empty();
  StreamState state = events.front().before;
  for (Kept& event : events) {
    event.before = state;
    const StreamEngine::Event again{&state, event.time, event.observed};
    engine_.observe({&again, 1});
  }
  kept_.erase(kept_.begin() + at, kept_.end());
  for (Kept& event : events) kept_.push_back(std::move(event));
  for (; kept_.size() > events_; kept_.pop_front()) forgotten_ = true;
  state_ = std::move(state);
  return in_order ? Outcome::appended : Outcome::replayed;
}

}  // namespace edict
