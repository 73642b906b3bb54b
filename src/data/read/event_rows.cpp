#include "data/read/event_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "data/read/cells/text_values.h"

namespace edict {
namespace {

struct Entry {
  std::int32_t feature;
  std::size_t row;
  double value;
};

double settled(const std::vector<Entry>& event, std::size_t from, std::size_t to,
               Duplicates duplicates) {
  if (duplicates == Duplicates::first) return event[from].value;
  if (duplicates == Duplicates::last) return event[to - 1].value;
  double mean = 0;
  for (std::size_t e = from; e < to; ++e) {
    if (is_text(event[e].value)) return event[to - 1].value;
    // Running, so that the largest numbers have a mean too.
    const double share = 1.0 / static_cast<double>(e - from + 1);
    mean = mean * (1 - share) + event[e].value * share;
  }
  return mean;
}

}  // namespace

Duplicates duplicates_from_name(const std::string& name) {
  if (name.empty() || name == "mean") return Duplicates::mean;
  if (name == "error") return Duplicates::refuse;
  if (name == "first") return Duplicates::first;
  if (name == "last") return Duplicates::last;
  throw Error(fmt::format("{}: give mean, first, last or error", option("duplicates", name)));
}

void EventRows::clear() {
  series.clear();
  times.clear();
  zones.clear();
  first_observation.clear();
  feature.clear();
  value.clear();
  sorted = true;
}

EventRows::Merged EventRows::merge(Duplicates duplicates) {
  Merged merged;
  first_observation.push_back(value.size());
  if (sorted) return merged;
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    if (series[a] != series[b]) return series[a] < series[b];
    if (times[a] != times[b]) return times[a] < times[b];
    return a < b;
  });
  EventRows result;
  result.feature.reserve(feature.size());
  result.value.reserve(value.size());
  std::vector<Entry> event;  // what is observed at the event at hand
  for (std::size_t i = 0; i < order.size();) {
    const std::size_t row = order[i];
    result.series.push_back(series[row]);
    result.times.push_back(times[row]);
    if (!zones.empty()) result.zones.push_back(zones[row]);
    result.first_observation.push_back(result.value.size());
    event.clear();
    for (; i < order.size() && series[order[i]] == series[row] && times[order[i]] == times[row];
         ++i)
      for (std::size_t o = first_observation[order[i]]; o < first_observation[order[i] + 1]; ++o)
        if (!is_missing(value[o])) event.push_back({feature[o], order[i], value[o]});
    std::sort(event.begin(), event.end(), [](const Entry& a, const Entry& b) {
      return a.feature != b.feature ? a.feature < b.feature : a.row < b.row;
    });
    for (std::size_t from = 0, to = 0; from < event.size(); from = to) {
      const Entry* other = nullptr;
      for (to = from + 1; to < event.size() && event[to].feature == event[from].feature; ++to)
        if (same_value(event[to].value, event[from].value))
          ++merged.same;
        else if (!other)
          other = &event[to];
      double observed = event[from].value;
      if (other && duplicates == Duplicates::refuse) {
        ++merged.refused;
        if (merged.conflicts.size() < kKeptConflicts)
          merged.conflicts.push_back({event[from].row, other->row, series[row], times[row],
                                      event[from].feature, event[from].value, other->value});
      } else if (other) {
        if (merged.joined++ == 0)
          merged.first_joined = {event[from].row,     other->row,        series[row], times[row],
                                 event[from].feature, event[from].value, other->value};
        observed = settled(event, from, to, duplicates);
      }
      result.feature.push_back(event[from].feature);
      result.value.push_back(observed);
    }
  }
  result.first_observation.push_back(result.value.size());
  *this = std::move(result);
  return merged;
}

}  // namespace edict
