// Stretches of a series that are learnt from or judged at once. What lies before a window is not
// lost: its timeline starts from the state that everything earlier leaves behind (model/carry.h).
//
// A series of ordinary length is one window. A long one, or the pieces of one that belong to the
// same part of the split (data/pieces.h), is learnt from in windows of bounded length, so that
// gradients go back through a bounded number of jumps, and judged from many origins instead of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "protocol/protocol.h"
#include "protocol/timeline.h"

namespace edict {

// Events of a window that is learnt from, at most. Gradients through more jumps than that mostly
// carry noise, and in single precision overflow on some series.
inline constexpr std::size_t kLearntWindow = 128;

struct Window {
  std::size_t series;              // whose id and covariates it has
  std::size_t first, origin, end;  // events; what begins at `origin` is forecast from there
  bool rolling = false;            // one of many origins, of which only some events are judged
};

// The series as one window, its cut-off the origin.
Window whole_window(const Protocol& protocol, const Dataset& data, std::size_t series);
// Whether an event of the window takes part: of a rolling origin, only some do.
bool is_judged(const Window& window, std::size_t event);
// Where the series of a window begins, with all pieces before it.
std::size_t head_event(const Dataset& data, const Window& window);
// Whether something of the series comes before the window.
inline bool has_past(const Dataset& data, const Window& window) {
  return window.first > head_event(data, window);
}

// Windows to learn from in one epoch: of whole series, or of what comes before their cut-off. Those
// of long series are cut at a phase that is drawn anew for each epoch.
std::vector<Window> learnt_windows(const Protocol& protocol, const Dataset& data,
                                   std::span<const std::size_t> series, bool whole,
                                   std::uint64_t seed, std::int64_t epoch);
// Whether that depends on the epoch.
bool has_long_series(const Dataset& data, std::span<const std::size_t> series);

// Windows to judge by. A long series is judged twice: by observations that are held out while it is
// followed event by event, and by forecasts from origins along its way.
std::vector<Window> judged_windows(const Protocol& protocol, const Dataset& data,
                                   std::span<const std::size_t> series);

// ---- timelines; their state is for model/carry.h to fill in ----

// Absorbs and scores everything.
Timeline<float> training_timeline(const Protocol& protocol, const Dataset& data,
                                  const Window& window);
// Absorbs what is before the origin and not held out; queries and scores the rest.
Timeline<float> evaluation_timeline(const Protocol& protocol, const DataSettings& settings,
                                    const Dataset& data, const Window& window);
// Absorbs events [first, end) of the series that `window` is of.
Timeline<float> absorbing_timeline(const Protocol& protocol, const Dataset& data,
                                   std::size_t series, std::size_t first, std::size_t end);

}  // namespace edict
