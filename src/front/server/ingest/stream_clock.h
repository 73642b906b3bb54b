// Between the times that people send and those a model counts in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/model.h"

namespace edict::server {

// A time as it was sent.
struct TimeStamp {
  double value = 0;
  bool wall = false;  // microseconds since 1970; else a number on the stream's own clock
};

// A model was trained on plain numbers or on the calendar (dates, Unix time). Every time is kept
// raw, as TimeAxis calls it: microseconds since 1970 for the latter, the number itself for the
// former. A stream of plain numbers also takes dates where the length of its unit is known: they
// are counted from an origin, which is the first date it saw unless somebody says otherwise.
class StreamClock {
 public:
  // `unit`: s, min, h, d; empty: what the model knows of it.
  StreamClock(const Model& model, const std::string& unit);

  bool calendar() const { return axis_.is_calendar(); }
  // Of a duration's unit; 0 where nobody knows.
  double seconds_in_unit() const { return seconds_; }
  std::string_view unit_name() const { return name_of(unit_); }
  // Of a time in JSON: "s", "ms", "us", "ns", or the unit's name; and its length in seconds, 0
  // where it is not known.
  std::string_view time_unit_name() const;
  double seconds_of_time() const;

  TimeStamp from_number(double number) const;
  // A date, or a number as text. Nothing where it is neither, or a date where none can be counted.
  std::optional<TimeStamp> from_text(std::string_view text) const;
  bool takes_dates() const { return calendar() || seconds_ > 0; }

  // `origin`: of a stream of plain numbers, in microseconds.
  double raw(const TimeStamp& time, double origin) const;
  // Of the wall clock; nothing where a stream's numbers say nothing of dates: those are as they
  // are, and have no now.
  std::optional<double> raw_of_wall(double microseconds, double origin) const {
    if (calendar()) return microseconds;
    if (seconds_ <= 0 || origin != origin) return {};
    return raw({microseconds, true}, origin);
  }
  // As JSON has it.
  double shown(double raw) const;
  // The reverse, of what a query gives.
  double raw_of_shown(double shown) const { return from_number(shown).value; }
  double raw_duration(double duration) const { return duration * axis_.raw_unit(); }
  double seconds_of_raw(double duration) const {
    return calendar() ? duration / 1e6 : duration * seconds_;
  }

  // As the model's data have it; `first` is the raw time of the stream's first event.
  double model_time(double raw, double first) const {
    return (raw - (axis_.from_first ? first : axis_.epoch)) / axis_.raw_unit();
  }
  double raw_of_model_time(double time, double first) const {
    return (axis_.from_first ? first : axis_.epoch) + time * axis_.raw_unit();
  }
  // Where the clock of a stream starts whose first event is there, in the model's data's unit.
  double start(double first_model_time) const;
  // The earliest raw time that a stream can have; minus infinity where any can.
  double earliest() const;
  // The longest gap after an event, raw, that the model's solver crosses.
  double longest_gap() const { return longest_gap_; }
  // Whether a double holds a raw time so finely that the model can tell it from the next one.
  bool resolves(double raw) const;

 private:
  TimeKind unix_kind() const;  // in which times of the calendar come and go as numbers

  TimeAxis axis_;
  TimeUnit unit_;
  double seconds_;
  double origin_;
  double longest_gap_, finest_;  // raw
  ClockStart start_;
};

}  // namespace edict::server
