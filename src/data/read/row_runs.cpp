#include "data/read/row_runs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace edict {

void RowRuns::add(EventRows& rows, const std::vector<std::string>& ids, std::int16_t zone) {
  if (rows.times.empty()) return;
  rows.first_observation.push_back(rows.value.size());
  // The series of the run by id, and then rows by the place of their series: few texts are
  // compared.
  std::vector<std::int32_t> present = rows.series;
  std::sort(present.begin(), present.end());
  present.erase(std::unique(present.begin(), present.end()), present.end());
  std::vector<std::uint32_t> place(present.size()), by_id(present.size());
  std::iota(by_id.begin(), by_id.end(), 0u);
  const auto id = [&](std::uint32_t k) -> const std::string& {
    return ids[static_cast<std::size_t>(present[k])];
  };
  std::sort(by_id.begin(), by_id.end(),
            [&](std::uint32_t a, std::uint32_t b) { return id(a) < id(b); });
  for (std::uint32_t k = 0; k < by_id.size(); ++k) place[by_id[k]] = k;
  std::vector<std::uint32_t> place_of_row(rows.series.size());
  for (std::size_t r = 0; r < rows.series.size(); ++r)
    place_of_row[r] = place[static_cast<std::size_t>(
        std::lower_bound(present.begin(), present.end(), rows.series[r]) - present.begin())];
  std::vector<std::uint32_t> order(rows.series.size());
  std::iota(order.begin(), order.end(), 0u);
  if (!std::is_sorted(place_of_row.begin(), place_of_row.end()))
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return place_of_row[a] != place_of_row[b] ? place_of_row[a] < place_of_row[b] : a < b;
    });

  Run run{TemporaryFile(folder_), {}, false};
  for (const std::uint32_t r : order) {
    const std::size_t first = rows.first_observation[r],
                      count = rows.first_observation[r + 1] - first;
    const Row row{rows_ + r, rows.times[r], rows.series[r], static_cast<std::uint32_t>(count),
                  rows.zones.empty() ? zone : rows.zones[r]};
    run.file.write(&row, sizeof row);
    run.file.write(rows.feature.data() + first, count * sizeof(std::int32_t));
    run.file.write(rows.value.data() + first, count * sizeof(double));
  }
  rows_ += rows.times.size();
  runs_.push_back(std::move(run));
  rows.clear();
}

void RowRuns::advance(Run& run) {
  run.ended = run.file.read(&run.next, sizeof run.next) != sizeof run.next;
}

void RowRuns::begin_reading(std::vector<std::int32_t> rank) {
  rank_ = std::move(rank);
  for (Run& run : runs_) {
    run.file.rewind();
    advance(run);
  }
}

void RowRuns::take(std::int32_t place, std::int32_t series, EventRows& rows,
                   std::vector<std::size_t>& row_numbers) {
  for (Run& run : runs_)
    while (!run.ended && rank_[static_cast<std::size_t>(run.next.series)] == place) {
      const std::size_t first = rows.value.size(), count = run.next.observations;
      rows.feature.resize(first + count);
      rows.value.resize(first + count);
      if (run.file.read(rows.feature.data() + first, count * sizeof(std::int32_t)) !=
              count * sizeof(std::int32_t) ||
          run.file.read(rows.value.data() + first, count * sizeof(double)) !=
              count * sizeof(double))
        throw Error("a temporary file ends too early; is the disk full?");
      rows.add_row(series, run.next.time, first);
      rows.zones.push_back(static_cast<std::int16_t>(run.next.zone));
      row_numbers.push_back(run.next.number);
      advance(run);
    }
}

}  // namespace edict
