#include "data/read/csv/meaning/csv_conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.h"
#include "data/read/csv/rows/csv_rows.h"

namespace edict {
namespace {

// Whole numbers beyond 2⁵³, as nanoseconds since 1970, may differ in the file and not as doubles.
std::string coarse(double time) {
  const double apart =
      std::nextafter(std::abs(time), std::numeric_limits<double>::infinity()) - std::abs(time);
  if (!(apart > 1)) return {};
  return fmt::format(" (numbers this large differ by {} at least; count them from a later start)",
                     apart);
}

}  // namespace

void CsvConflicts::add(const EventRows::Merged& part, std::span<const std::size_t> series,
                       const std::vector<std::size_t>& numbers, EventRows::Merged& all) {
  all.refused += part.refused;
  all.same += part.same;
  const auto in_the_whole = [&](EventRows::Conflict conflict) {
    conflict.earlier = numbers[conflict.earlier];
    conflict.later = numbers[conflict.later];
    conflict.series = static_cast<std::int32_t>(series[static_cast<std::size_t>(conflict.series)]);
    return conflict;
  };
  if (part.joined > 0 && all.joined == 0) all.first_joined = in_the_whole(part.first_joined);
  all.joined += part.joined;
  for (const EventRows::Conflict& conflict : part.conflicts) {
    if (all.conflicts.size() == EventRows::kKeptConflicts) break;
    all.conflicts.push_back(in_the_whole(conflict));
  }
}

std::string CsvConflicts::described(const EventRows::Conflict& conflict,
                                    const std::vector<std::string>& ids) const {
  return fmt::format(
      "'{}' of id {} is {} and {}", features_[static_cast<std::size_t>(conflict.feature)],
      in_quotes(ids[static_cast<std::size_t>(conflict.series)]),
      value_text(conflict.feature, conflict.first), value_text(conflict.feature, conflict.second));
}

// Where a row with values stands is not kept. `rows` ascend.
std::vector<const char*> CsvConflicts::places_of(const std::vector<std::size_t>& rows) const {
  std::vector<const char*> places;
  CsvProblems known(text_);
  const std::unique_ptr<CsvRows> again = csv_rows(text_, layout_, options_, known);
  again->keep_within(0, [&] { again->table.rows.clear(); });  // they are only counted
  const char* p = layout_.rows;
  for (const std::size_t row : rows) places.push_back(again->read_to(p, row));
  return places;
}

void CsvConflicts::note(const EventRows::Merged& merged, const std::vector<std::string>& ids,
                        CsvProblems& problems) const {
  if (merged.refused == 0) return;
  std::vector<std::size_t> wanted;
  for (const auto& conflict : merged.conflicts) {
    wanted.push_back(conflict.earlier);
    wanted.push_back(conflict.later);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const std::vector<const char*> places = places_of(wanted);
  const auto place = [&](std::size_t row) {
    return places[static_cast<std::size_t>(std::lower_bound(wanted.begin(), wanted.end(), row) -
                                           wanted.begin())];
  };
  for (const auto& conflict : merged.conflicts)
    problems.add(
        CsvProblem::repeated, place(conflict.later),
        features_[static_cast<std::size_t>(conflict.feature)],
        fmt::format("id {} has {} here and {} in line {} at the same time{}; correct one, or give "
                    "{}, first or last",
                    in_quotes(ids[static_cast<std::size_t>(conflict.series)]),
                    value_text(conflict.feature, conflict.second),
                    value_text(conflict.feature, conflict.first),
                    text_.line_of(place(conflict.earlier)), coarse(conflict.time),
                    option("duplicates", "mean")));
  problems.count(CsvProblem::repeated, merged.refused - merged.conflicts.size());
}

std::string CsvConflicts::value_text(std::int32_t feature, double value) const {
  if (!is_text(value)) return fmt::format("{}", value);
  return in_quotes(table_.texts[static_cast<std::size_t>(feature)]
                       ->names.list()[static_cast<std::size_t>(text_of(value))]);
}

}  // namespace edict
