// How long each series lasts, of dates: it decides in which unit they are counted.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "data/read/event_rows.h"

namespace edict {

class SeriesSpans {
 public:
  // Rows with raw times of `series` series, those included whose values turn out to be missing, so
  // that it does not depend on how much of the table is in memory.
  void add(const EventRows& rows, std::size_t series) {
    earliest_.resize(series, std::numeric_limits<double>::infinity());
    latest_.resize(series, -std::numeric_limits<double>::infinity());
    for (std::size_t r = 0; r < rows.times.size(); ++r) {
      const auto i = static_cast<std::size_t>(rows.series[r]);
      earliest_[i] = std::min(earliest_[i], rows.times[r]);
      latest_[i] = std::max(latest_[i], rows.times[r]);
    }
  }

  // Of the series that have more than one event, in seconds.
  std::vector<double> seconds() const {
    std::vector<double> result;
    for (std::size_t i = 0; i < earliest_.size(); ++i)
      if (earliest_[i] < latest_[i]) result.push_back((latest_[i] - earliest_[i]) / 1e6);
    return result;
  }

 private:
  std::vector<double> earliest_, latest_;  // of each series, raw
};

}  // namespace edict
