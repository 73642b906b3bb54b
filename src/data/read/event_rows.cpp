#include "data/read/event_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "data/read/cells/text_values.h"

namespace edict {
namespace {

using Entry = EventRows::Entry;

// One value for several that differ.
double settled(std::span<const Entry> entries, Duplicates duplicates) {
  if (duplicates == Duplicates::first) return entries.front().value;
  if (duplicates == Duplicates::last) return entries.back().value;
  double mean = 0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (is_text(entries[e].value)) return entries.back().value;
    // Running, so that the largest numbers have a mean too.
    const double share = 1.0 / static_cast<double>(e + 1);
    mean = mean * (1 - share) + entries[e].value * share;
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

// The rows by series and time; equals in the order in which they came.
std::vector<std::size_t> EventRows::rows_in_order() const {
  std::vector<std::size_t> next;
  for (const std::int32_t i : series) {
    const auto place = static_cast<std::size_t>(i) + 1;
    if (place >= next.size()) next.resize(place + 1);
    ++next[place];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::size_t> order(times.size());
  for (std::size_t r = 0; r < times.size(); ++r)
    order[next[static_cast<std::size_t>(series[r])]++] = r;
  const auto earlier = [this](std::size_t a, std::size_t b) { return times[a] < times[b]; };
  std::size_t begin = 0;
  for (const std::size_t end : next) {
    const auto from = order.begin() + static_cast<std::ptrdiff_t>(begin),
               to = order.begin() + static_cast<std::ptrdiff_t>(end);
    if (!std::is_sorted(from, to, earlier)) std::stable_sort(from, to, earlier);
    begin = end;
  }
  return order;
}

EventRows::Merged EventRows::merge(Duplicates duplicates) {
  Merged merged;
  first_observation.push_back(value.size());
  if (sorted) return merged;
  const std::vector<std::size_t> order = rows_in_order();
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
    const auto by_feature = [](const Entry& a, const Entry& b) { return a.feature < b.feature; };
    if (!std::is_sorted(event.begin(), event.end(), by_feature))
      std::stable_sort(event.begin(), event.end(), by_feature);
    result.add_event(event, series[row], times[row], duplicates, merged);
  }
  result.first_observation.push_back(result.value.size());
  *this = std::move(result);
  return merged;
}

// The entries of one event, by feature, each feature once.
void EventRows::add_event(const std::vector<Entry>& event, std::int32_t of_series, double time,
                          Duplicates duplicates, Merged& merged) {
  for (std::size_t from = 0, to = 0; from < event.size(); from = to) {
    const Entry* other = nullptr;
    for (to = from + 1; to < event.size() && event[to].feature == event[from].feature; ++to)
      if (same_value(event[to].value, event[from].value))
        ++merged.same;
      else if (!other)
        other = &event[to];
    double observed = event[from].value;
    if (other) {
      const Conflict conflict{event[from].row,     other->row,        of_series,   time,
                              event[from].feature, event[from].value, other->value};
      if (duplicates == Duplicates::refuse) {
        ++merged.refused;
        if (merged.conflicts.size() < kKeptConflicts) merged.conflicts.push_back(conflict);
      } else {
        if (merged.joined++ == 0) merged.first_joined = conflict;
        observed = settled(std::span(event).subspan(from, to - from), duplicates);
      }
    }
    feature.push_back(event[from].feature);
    value.push_back(observed);
  }
}

void EventRows::move_to(Dataset& data) {
  std::vector<std::size_t> first_event(data.size() + 1, 0);
  for (const std::int32_t i : series) ++first_event[static_cast<std::size_t>(i) + 1];
  std::partial_sum(first_event.begin(), first_event.end(), first_event.begin());
  data.first_event = std::move(first_event);
  data.times = std::move(times);
  data.first_observation = std::move(first_observation);
  data.feature = std::move(feature);
  data.value = std::move(value);
}

}  // namespace edict
