// The rows of a table that hold a value, before they are a dataset: in the order of the file, and
// then by series and time with each event once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace edict {

enum class Duplicates : std::uint8_t { refuse, mean, first, last };
Duplicates duplicates_from_name(const std::string& name);  // throws Error

struct EventRows {
  // One entry a row. Times are those of the time axis, raw.
  std::vector<std::int32_t> series;
  std::vector<double> times;
  std::vector<std::int16_t> zones;             // empty while all are the same
  std::vector<std::size_t> first_observation;  // and, once merged, one more
  // One entry an observation.
  std::vector<std::int32_t> feature;
  std::vector<double> value;
  bool sorted = true;  // by series and time, each event in one row, and its features in order

  // The next observation of the last row.
  void add_value(std::int32_t of_feature, double observed) {
    if (value.size() > first_observation.back()) sorted &= of_feature > feature.back();
    feature.push_back(of_feature);
    value.push_back(observed);
  }

  // A row whose observations from `first` on stand in the arrays already.
  void add_row(std::int32_t of_series, double time, std::size_t first) {
    if (!series.empty() && of_series <= series.back())
      sorted &= of_series == series.back() && time > times.back();
    series.push_back(of_series);
    times.push_back(time);
    first_observation.push_back(first);
  }
  std::size_t bytes() const {
    return times.size() * (sizeof(std::int32_t) + sizeof(double) + sizeof(std::size_t)) +
           value.size() * (sizeof(std::int32_t) + sizeof(double));
  }
  void clear();  // keeps the memory

  // The same id, time and feature in two rows, with different values.
  struct Conflict {
    std::size_t earlier, later;  // rows
    std::int32_t series;
    double time;
    std::int32_t feature;
    double first, second;
  };
  static constexpr std::size_t kKeptConflicts = 20;
  struct Merged {
    std::vector<Conflict> conflicts;  // the first ones
    std::size_t refused = 0;          // conflicts altogether
    std::size_t same = 0;             // observations that were there twice with one value
    std::size_t joined = 0;           // conflicts that were settled
    Conflict first_joined{};          // the first of them
  };
  // Puts rows in order and joins those of one event, without what is missing. A text has no mean;
  // its last is taken.
  Merged merge(Duplicates duplicates);

  // What was merged becomes the events of a dataset, which names its series already.
  void move_to(Dataset& data);

  // What a row observed of a feature.
  struct Entry {
    std::int32_t feature;
    std::size_t row;
    double value;
  };

 private:
  std::vector<std::size_t> rows_in_order() const;
  void add_event(const std::vector<Entry>& event, std::int32_t of_series, double time,
                 Duplicates duplicates, Merged& merged);
};

}  // namespace edict
