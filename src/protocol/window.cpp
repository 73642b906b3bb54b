#include "protocol/window.h"

#include <algorithm>
#include <array>

#include "base/generator.h"

namespace edict {
namespace {

// A series with more events than this is cut into windows.
constexpr std::size_t kLongSeries = 512;
// A window shorter than this goes to its neighbour.
constexpr std::size_t kShortestWindow = 16;
// Events that are followed together where a long series is judged.
constexpr std::size_t kFollowed = 512;
// How many events ahead a rolling origin is judged, and about how many origins there are.
constexpr std::array<std::size_t, 10> kJudgedAhead{1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr std::size_t kOrigins = 512;

// Neighbouring pieces of one series, or a series.
struct Stretch {
  std::size_t series;  // the first of them
  std::size_t first, end;
  bool has_past;
};

std::vector<Stretch> stretches(const Dataset& data, std::span<const std::size_t> series) {
  std::vector<Stretch> result;
  std::size_t before = data.size();
  for (const std::size_t i : series) {
    const std::size_t first = data.first_event[i], end = data.first_event[i + 1];
    if (before + 1 == i && data.continues_previous(i))
      result.back().end = end;
    else
      result.push_back({i, first, end, data.continues_previous(i)});
    before = i;
  }
  return result;
}

bool is_long(const Dataset& data, const Stretch& stretch) {
  return !data.continues.empty() || stretch.end - stretch.first > kLongSeries;
}

// The piece that an event belongs to, of those from `series` on.
std::size_t piece_of(const Dataset& data, std::size_t series, std::size_t event) {
  while (data.first_event[series + 1] <= event) ++series;
  return series;
}

}  // namespace

bool is_judged(const Window& window, std::size_t event) {
  if (!window.rolling) return true;
  return std::ranges::binary_search(kJudgedAhead, event - window.origin + 1);
}

std::size_t head_event(const Dataset& data, const Window& window) {
  return data.first_event[data.head_of(window.series)];
}

bool has_long_series(const Dataset& data, std::span<const std::size_t> series) {
  return !data.continues.empty() ||
         std::ranges::any_of(series, [&](std::size_t i) { return data.events(i) > kLongSeries; });
}

std::vector<Window> learnt_windows(const Protocol& protocol, const Dataset& data,
                                   std::span<const std::size_t> series, bool whole,
                                   std::uint64_t seed, std::int64_t epoch) {
  std::vector<Window> windows;
  for (Stretch stretch : stretches(data, series)) {
    const bool cut = is_long(data, stretch);
    // Pieces are of different parts of the split already.
    if (!whole && data.continues.empty())
      stretch.end = whole_window(protocol, data, stretch.series).origin;
    if (!cut) {
      windows.push_back({stretch.series, stretch.first, stretch.end, stretch.end});
      continue;
    }
    Generator rng(seed, "phase",
                  hash_of(data.ids[stretch.series]) + static_cast<std::uint64_t>(epoch));
    std::size_t from = stretch.first, piece = stretch.series;
    std::size_t length = 1 + rng.below(kLearntWindow);
    while (from < stretch.end) {
      std::size_t to = from + std::max(length, kShortestWindow);
      if (to + kShortestWindow > stretch.end) to = stretch.end;
      piece = piece_of(data, piece, from);
      windows.push_back({piece, from, to, to});
      from = to;
      length = kLearntWindow;
    }
  }
  return windows;
}

std::vector<Window> judged_windows(const Protocol& protocol, const Dataset& data,
                                   std::span<const std::size_t> series) {
  std::vector<Window> windows;
  const std::vector<Stretch> all = stretches(data, series);
  std::size_t events = 0;  // of what is long
  for (const Stretch& stretch : all)
    if (is_long(data, stretch)) events += stretch.end - stretch.first;
  const std::size_t step = std::clamp<std::size_t>(events / kOrigins, 1, kJudgedAhead.back());
  for (const Stretch& stretch : all) {
    if (!is_long(data, stretch)) {
      windows.push_back(whole_window(protocol, data, stretch.series));
      continue;
    }
    std::size_t piece = stretch.series;
    for (std::size_t from = stretch.first; from < stretch.end; from += kFollowed) {
      const std::size_t to = std::min(from + kFollowed, stretch.end);
      piece = piece_of(data, piece, from);
      windows.push_back({piece, from, to, to});
    }
    piece = stretch.series;
    // Without anything observed there is nothing to forecast from.
    for (std::size_t from = stretch.first + (stretch.has_past ? 0 : 1); from < stretch.end;
         from += step) {
      piece = piece_of(data, piece, from);
      windows.push_back(
          {piece, from, from, std::min(from + kJudgedAhead.back(), stretch.end), true});
    }
  }
  return windows;
}

}  // namespace edict
