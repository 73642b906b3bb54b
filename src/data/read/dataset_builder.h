// A dataset from arrays that are in memory already: rows in any order, of any number of tables.
//
// The series and the features are named first, and a row refers to them by their places. Series
// without a row are kept, without events. What a program holds is seldom sorted: rows are brought
// into the order of a Dataset by build(), and those of one series and one time become one event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/read/event_rows.h"

namespace edict {

class DatasetBuilder {
 public:
  // Throws Error where a name is empty, is not UTF-8 or is there twice.
  DatasetBuilder(std::vector<std::string> ids, std::vector<std::string> features);

  std::size_t series() const { return data_.size(); }
  std::size_t features() const { return data_.features.size(); }

  // The class or group of each series, as an index into names, or Dataset::kNone. The names are
  // sorted as those of a CSV file are, and one that no series has is kept.
  void set_labels(std::vector<std::string> names, std::vector<std::int32_t> of_series);
  void set_groups(std::vector<std::string> names, std::vector<std::int32_t> of_series);
  // Series × names, row by row; NaN where missing.
  void set_statics(std::vector<std::string> names, std::vector<double> values);

  // What the times are, where they are not plain numbers.
  void set_time_axis(TimeAxis axis) { data_.time_axis = std::move(axis); }

  // Numbers that lie `stride` apart.
  struct Column {
    const double* first;
    std::ptrdiff_t stride = 1;
  };
  // Wide form: a column for every feature, NaN where it was not observed. A row without any value
  // adds nothing, and its time may be NaN.
  void add_rows(std::span<const std::int64_t> series, std::span<const double> times,
                std::span<const Column> columns);
  // Long form: an observation each; NaN adds nothing.
  void add_observations(std::span<const std::int64_t> series, std::span<const double> times,
                        std::span<const std::int32_t> features, std::span<const double> values);

  // What becomes of two different values of one feature at one time of a series. Equal ones are
  // one.
  using Duplicates = edict::Duplicates;

  // Throws Error, which names series, time and feature, where a number is infinite or values
  // contradict each other.
  Dataset build(Duplicates duplicates = Duplicates::refuse) &&;

 private:
  void add_row(std::int64_t series, double time);
  void refuse_conflict(const EventRows::Conflict& conflict) const;

  Dataset data_;    // names, and what build() makes of the rows
  EventRows rows_;  // as they came
};

}  // namespace edict
