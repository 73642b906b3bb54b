// How a table is to be read, as far as somebody says so. What is left open is recognised.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "data/reading.h"
#include "data/time/time_axis.h"

namespace edict {

// What a file may ask of the machine; beyond it an Error. For files from strangers, lower them.
struct CsvLimits {
  std::size_t bytes = std::size_t{1} << 36;  // also when unpacked
  std::size_t columns = std::size_t{1} << 16;
  std::size_t text = 4096;  // bytes of an id, label, group or name
};

// How a model's training data were read.
struct KnownReading {
  Reading reading;
  TimeAxis time_axis;
};

struct ReadOptions {
  // Names of columns; "none": there is none, though one may look like it. Date and time of day in
  // two columns are "date,clock".
  std::string id, time, label, group;
  std::string variable, value;          // the long form's; variable "none": it is the wide form
  std::vector<std::string> statics;     // beside those that are called static:<name>
  std::vector<std::string> features;    // empty: every column that is nothing else
  std::vector<std::string> categories;  // columns whose values are names even if they are numbers
  std::vector<std::string> ignored;     // columns to leave out
  std::vector<std::string> columns;     // the names of all, of a table without a header
  std::vector<std::string> missing;     // what stands for a missing value: VALUE or COLUMN=VALUE;
                                        // "none": nothing but what says_missing knows
  std::string decimal;                  // point or comma
  std::string time_format;              // as of strptime
  std::string time_unit;                // s, min, h, d; none: numbers are plain numbers
  std::string origin;                   // first, a date or a number
  std::string duplicates;  // of what was observed twice: mean (if empty), first, last or error

  // What is not said above is done as it was there, where the columns are found by their names.
  std::optional<KnownReading> like;

  CsvLimits limits;
};

}  // namespace edict
