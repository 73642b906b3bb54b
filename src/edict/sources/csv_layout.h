// What each column of a CSV file is, from its header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edict/sources/csv_text.h"

namespace edict {

enum class CsvColumn : std::uint8_t {
  id,
  time,
  label,
  group,
  static_covariate,
  feature,       // wide form: the values of one feature
  feature_name,  // long form
  value,         // long form
};

struct CsvLayout {
  struct Column {
    CsvColumn kind;
    std::int32_t index;     // of the feature or static covariate
    std::uint32_t run = 0;  // feature columns from here on without another kind between
  };
  std::vector<Column> columns;
  std::vector<std::string> names;     // of the columns, for messages
  std::vector<std::string> features;  // empty in long form
  std::vector<std::string> statics;
  bool long_form = false;

  const std::string& name_of(CsvColumn kind) const;
};

// Reads the header at p and leaves p at the line behind it.
CsvLayout read_csv_header(const CsvText& text, const char*& p, const CsvLimits& limits);

// Whether a feature may have this name: not empty, without colon, none of the reserved ones.
bool valid_feature_name(std::string_view name);

}  // namespace edict
