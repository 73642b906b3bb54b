// What each column of a table is, from its header, its first rows and what somebody says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "edict/data/time_axis.h"
#include "edict/sources/csv_text.h"

namespace edict {

struct ReadOptions;

// 'a', 'b' and 3 more.
std::string quoted_list(const std::vector<std::string>& names);

enum class CsvColumn : std::uint8_t {
  id,
  time,
  label,
  group,
  static_covariate,
  feature,       // wide form: the values of one feature
  category,      // the same where every value is a name
  feature_name,  // long form
  value,         // long form
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
  bool decimal_comma = false, decimal_point = false;  // seen in the first rows
  TimeKind time_kind = TimeKind::number;
  const char* rows = nullptr;  // where they begin

  // Whether everything was called as write_csv calls it and separated by commas.
  bool plain = true;
  std::vector<std::string> ignored;  // names of columns that are nothing

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
bool is_long_form(std::string_view feature, std::string_view value);

// Whether write_csv may call a feature so: not empty, none of the names of other columns.
bool valid_feature_name(std::string_view name);

}  // namespace edict
