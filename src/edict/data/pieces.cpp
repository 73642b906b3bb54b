#include "edict/data/pieces.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace edict {
namespace {

constexpr std::size_t kEnoughSeries = 10;
constexpr std::size_t kPieces = 40, kFewestPieces = 10;
constexpr std::size_t kShortest = 5;

// The zones in which the events of one piece were written, of those of its series.
void add_zones(const TimeAxis& from, std::size_t series, double first, double last,
               std::size_t piece, std::vector<TimeAxis::ZoneChange>& to) {
  const TimeAxis::ZoneChange* before = nullptr;
  for (const TimeAxis::ZoneChange& change : from.zones) {
    if (change.series != series || change.from > last) continue;
    if (change.from <= first) {
      before = &change;
      continue;
    }
    if (before) to.push_back({piece, first, before->zone});
    before = nullptr;
    to.push_back({piece, change.from, change.zone});
  }
  if (before) to.push_back({piece, first, before->zone});
}

}  // namespace

std::size_t piece_length(const Dataset& data) {
  if (data.size() >= kEnoughSeries) return 0;
  const std::size_t length = std::max(kShortest, data.events() / kPieces);
  return data.events() / length < kFewestPieces ? 0 : length;
}

Dataset in_pieces(const Dataset& data, std::size_t events) {
  Dataset result;
  result.features = data.features;
  result.statics = data.statics;
  result.classes = data.classes;
  result.groups = data.groups;
  result.reading = data.reading;
  result.reading.piece = events;
  result.time_axis = data.time_axis.rules();
  result.time_axis.from_first = true;
  std::vector<double> origins;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t end = data.first_event[i + 1];
    std::size_t number = 1;
    for (std::size_t from = data.first_event[i]; from < end; from += events, ++number) {
      const std::size_t to = std::min(from + events, end);
      const double origin = data.time_axis.to_raw(i, data.times[from]);
      add_zones(data.time_axis, i, origin, data.time_axis.to_raw(i, data.times[to - 1]),
                result.size(), result.time_axis.zones);
      result.add_series(data.ids[i] + "/" + std::to_string(number), data.labels[i],
                        data.group_of[i], data.covariates(i));
      origins.push_back(origin);
      for (std::size_t e = from; e < to; ++e) {
        result.add_event(data.times[e] - data.times[from]);
        for (const Observation& o : data.observed(e)) result.add_observation(o.feature, o.value);
      }
    }
  }
  result.time_axis.origin = std::move(origins);
  return result;
}

}  // namespace edict
