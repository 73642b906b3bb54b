// Times as they are typed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace edict::cli {

// "0:0.5:10" (start, step, end; the end belongs to it) or "1,2.5,7", ascending. Every time is the
// number one would write: the fourth of 0:0.1:1 is 0.3 and not 0.30000000000000004. Throws Error
// that begins with the name of the option.
std::vector<double> parse_times(const std::string& option, const std::string& text);

// The times of an option as one of the data's own forms: numbers on their scale, dates, or Unix
// time where the data have that.
class GivenTimes {
 public:
  // `known`: of the model, whose dates may be written in a way of their own. Throws Error that
  // begins with the name of the option.
  GivenTimes(std::string option, const std::string& text, const TimeAxis& known);

  std::size_t count() const { return dates_.empty() ? numbers_.size() : dates_.size(); }
  // Ascending, on the scale of the data; of moments of the calendar this means nothing.
  const std::vector<double>& numbers() const { return numbers_; }
  // Whether they are moments of the calendar, which each series counts from a start of its own.
  bool are_moments(const Dataset& data) const;
  // Those moments on the clock of a series, ascending. What lies before a clock that starts with
  // the first event is left out. Throws Error that begins with the name of the option.
  std::vector<double> of(const Dataset& data, std::size_t series) const;

 private:
  std::string option_;
  std::vector<std::string> dates_;
  std::vector<double> numbers_;
};

// Says how many of the series begin after all of the given times, if any does.
void note_without_times(std::size_t without, std::size_t series);

}  // namespace edict::cli
