// Irregular series in compressed sparse form: series → events (a time) → observed (feature, value).
// Memory is proportional to what was observed, never to time × features.
//
// A series is known by its id, a feature by its name: where either stands in the arrays means
// nothing. The adding functions and check() hold the order that everything above relies on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/column.h"
#include "data/reading.h"
#include "data/time/time_axis.h"

namespace edict {

struct Observation {
  std::int32_t feature;
  double value;
};

// The observations of one event, which lie in two arrays.
class ObservationRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Observation;
    using difference_type = std::ptrdiff_t;
    using pointer = const Observation*;
    using reference = Observation;

    Iterator() = default;
    Iterator(const std::int32_t* feature, const double* value) : feature_(feature), value_(value) {}
    Observation operator*() const { return {*feature_, *value_}; }
    Iterator& operator++() {
      ++feature_, ++value_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return value_ == other.value_; }

   private:
    const std::int32_t* feature_ = nullptr;
    const double* value_ = nullptr;
  };

  ObservationRange(const std::int32_t* feature, const double* value, std::size_t size)
      : feature_(feature), value_(value), size_(size) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Observation operator[](std::size_t k) const { return {feature_[k], value_[k]}; }
  Iterator begin() const { return {feature_, value_}; }
  Iterator end() const { return {feature_ + size_, value_ + size_}; }

 private:
  const std::int32_t* feature_;
  const double* value_;
  std::size_t size_;
};

struct Dataset {
  static constexpr std::int32_t kNone = -1;  // a series without label or group

  std::vector<std::string> features;
  std::vector<std::string> statics;  // names of the static covariates, without "static:"
  std::vector<std::string> classes;  // label texts, sorted (numerically if all are numbers)
  std::vector<std::string> groups;

  // One entry a series.
  std::vector<std::string> ids;   // each once
  Column<std::int32_t> labels;    // index into classes, or kNone
  Column<std::int32_t> group_of;  // index into groups, or kNone
  Column<double> static_values;   // series × statics, row by row; NaN where missing

  Column<std::size_t> first_event{0};        // series + 1
  Column<double> times;                      // strictly ascending within a series
  Column<std::size_t> first_observation{0};  // events + 1

  // One entry an observation.
  Column<std::int32_t> feature;  // strictly ascending within an event
  Column<double> value;          // finite

  // One entry a series: whether it goes on where the series before it ends, as the pieces of one
  // series do (pieces.h). Empty: none does.
  std::vector<std::uint8_t> continues;

  TimeAxis time_axis;  // what the times were before; plain numbers where nobody said otherwise
  Reading reading;     // from which columns of a table this came; empty for what is no table

  std::size_t size() const { return ids.size(); }
  std::size_t events() const { return times.size(); }
  std::size_t observations() const { return value.size(); }
  bool labelled() const { return !classes.empty(); }

  // The events of series i are [first_event[i], first_event[i + 1]).
  std::size_t events(std::size_t series) const {
    return first_event[series + 1] - first_event[series];
  }
  bool continues_previous(std::size_t series) const {
    return !continues.empty() && continues[series] != 0;
  }
  // The first of the pieces that series i is one of; i itself where it continues none.
  std::size_t head_of(std::size_t series) const {
    while (continues_previous(series)) --series;
    return series;
  }
  // These series will be looked at soon, in any order. Of data in a mapped file their parts alone
  // are then read, all at once; whoever looks at others later does well to tell it here too.
  void read_ahead(std::span<const std::size_t> series) const;
  ObservationRange observed(std::size_t event) const {
    const std::size_t first = first_observation[event];
    return {feature.data() + first, value.data() + first, first_observation[event + 1] - first};
  }
  std::span<const double> covariates(std::size_t series) const {
    return {static_values.data() + series * statics.size(), statics.size()};
  }
  // The name of the series' group, empty without one.
  std::string_view group_name(std::size_t series) const {
    const std::int32_t group = group_of[series];
    return group == kNone ? std::string_view() : groups[static_cast<std::size_t>(group)];
  }

  // Appending goes in order: the names, a series, then each of its events followed by that event's
  // observations by feature. Throws Error where times or features do not ascend, or where a number
  // is not finite. Without covariates a series has all of them missing.
  void add_series(std::string id, std::int32_t label = kNone, std::int32_t group = kNone,
                  std::span<const double> covariates = {});
  void add_event(double time);
  void add_observation(std::int32_t feature_index, double observed_value);

  // For whoever filled the arrays directly: throws Error where anything above does not hold.
  void check() const;
};

}  // namespace edict
