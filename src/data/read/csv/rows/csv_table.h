// What the rows of a table hold, while nobody knows yet what their texts mean.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/read/cells/text_values.h"
#include "data/read/csv/csv_names.h"
#include "data/read/event_rows.h"
#include "data/time/time_axis.h"

namespace edict {

struct CsvTable {
  EventRows rows;
  CsvNames ids, classes, groups;
  CsvNames features;                  // of the long form; the header of the wide form names them
  CsvNames units;                     // of the long form
  std::vector<std::int32_t> unit_of;  // of each feature, as far as one was named
  // Of each feature and of each static covariate; null where all are numbers.
  std::vector<std::unique_ptr<TextColumn>> texts, static_texts;

  // Words for "missing" in the same columns, and in those of labels, groups and units.
  std::vector<UnknownWords> words, static_words;
  UnknownWords label_words, group_words, unit_words;

  // Of each series.
  std::vector<std::int32_t> labels, group_of;
  std::vector<double> static_values;

  // Dates: the fullest way in which they were written, and the zone of the first.
  DateStyle style;
  std::int16_t zone = 0;
  bool comma_used = false;            // as the decimal point
  std::size_t repeated_headers = 0;   // rows that are the header once more
  std::size_t rows_before_times = 0;  // with values and no time, before the first that has one
};

}  // namespace edict
