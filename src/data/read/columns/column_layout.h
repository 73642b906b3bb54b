// What each column of a table is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/read/columns/clock_column.h"
#include "data/read/columns/time_column.h"
#include "data/time/time_axis.h"

namespace edict {

enum class ColumnKind : std::uint8_t {
  id,
  time,
  clock,  // the time of day, beside the date
  label,
  group,
  static_covariate,
  feature,       // wide form: the values of one feature
  category,      // the same where every value is a name
  feature_name,  // long form
  value,         // long form
  unit,          // of that value
  ignored,
};

struct ColumnLayout {
  struct Column {
    ColumnKind kind;
    std::int32_t index;     // of the feature or static covariate
    std::uint32_t run = 0;  // feature columns from here on without another kind between
  };
  std::vector<Column> columns;
  std::vector<std::string> names;     // of the columns
  std::vector<std::string> features;  // empty in long form
  std::vector<std::string> statics;   // without "static:"
  bool long_form = false;
  bool one_series = false;          // there is no id column
  bool one_series_guessed = false;  // and no option said so
  TimeForm time;
  ClockForm clock = ClockForm::text;    // of the column of kind clock
  TimeUnit time_unit = TimeUnit::none;  // of numbers, where a model counts in another

  std::vector<std::string> categories;  // columns that were said to hold names
  std::vector<std::string> named;       // and those that were named as what is to be read
  std::vector<std::string> ignored;     // names of columns that are nothing
  std::vector<std::string> row_index;   // of those that only count the rows

  void count_runs();  // after a kind has changed

  // The name of the first column of this kind; empty without one.
  std::string name_of(ColumnKind kind) const;
  // The name of a static covariate's column, as the file calls it.
  std::string static_column(std::size_t index) const;
};

// 'a', 'b' and 3 more.
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace edict
