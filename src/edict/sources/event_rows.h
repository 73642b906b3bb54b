// The rows of a table that hold a value, before they are a dataset: in the order of the file, and
// then by series and time with each event once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

  // The same id, time and feature in two rows, with different values.
  struct Conflict {
    std::size_t earlier, later;  // rows
    std::int32_t series;
    double time;
    std::int32_t feature;
    double first, second;
  };
  struct Merged {
    std::vector<Conflict> conflicts;  // the first ones
    std::size_t refused = 0;          // conflicts altogether
    std::size_t same = 0;             // observations that were there twice with one value
    std::size_t joined = 0;           // conflicts that were settled
  };
  // Puts rows in order and joins those of one event. A text has no mean; its last is taken.
  Merged merge(Duplicates duplicates);
};

}  // namespace edict
