// What each column of a table is, from its header, its first rows and what somebody says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/cells/text_values.h"
#include "data/read/cells/time_column.h"
#include "data/read/csv/csv_text.h"
#include "data/time/time_axis.h"

namespace edict {

struct ReadOptions;

// 'a', 'b' and 3 more.
std::string quoted_list(const std::vector<std::string>& names);

enum class CsvColumn : std::uint8_t {
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

struct CsvLayout {
  struct Column {
    CsvColumn kind;
    std::int32_t index;     // of the feature or static covariate
    std::uint32_t run = 0;  // feature columns from here on without another kind between
  };
  std::vector<Column> columns;
  std::vector<std::string> names;     // of the columns
  std::vector<std::string> features;  // empty in long form
  std::vector<std::string> statics;   // without "static:"
  bool long_form = false;
  bool one_series = false;                            // there is no id column
  bool one_series_guessed = false;                    // and nobody said so
  bool decimal_comma = false, decimal_point = false;  // seen in the first rows
  bool points_group = false;                          // 1.234,5 was seen there
  DecimalMark decimal = DecimalMark::open;            // as said, or as the first rows have it
  TimeForm time;
  TimeUnit time_unit = TimeUnit::none;  // of numbers, where a model counts in another
  std::string_view header;              // its line
  const char* rows = nullptr;           // where the rows begin
  std::size_t lines_skipped = 0;        // before the header
  bool units_row = false;               // below the header, and left out

  // Whether everything was called as write_csv calls it and separated by commas.
  bool plain = true;
  std::vector<std::string> ignored;    // names of columns that are nothing
  std::vector<std::string> row_index;  // of those that only count the rows

  void count_runs();  // after a kind has changed

  // The name of the first column of this kind; empty without one.
  std::string name_of(CsvColumn kind) const;
  // The name of a static covariate's column, as the file calls it.
  std::string static_column(std::size_t index) const;
};

// Sets the separator of the text. Throws Error where the header cannot be used, CsvNotUtf8 where it
// is in another encoding.
CsvLayout read_csv_layout(CsvText& text, const ReadOptions& options);

// Whether two columns of these names, with nothing beside them, are those of the long form.
bool is_long_form(std::string_view variable, std::string_view value);

// Whether write_csv may call a feature so: not empty, none of the names of other columns.
bool valid_feature_name(std::string_view name);

}  // namespace edict
