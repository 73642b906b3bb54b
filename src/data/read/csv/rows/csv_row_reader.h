// What the cells of a row mean, whatever separates them: values, texts, times and what is known of
// a series. The rows themselves are found by csv_rows.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/cells/missing_codes.h"
#include "data/read/csv/rows/csv_rows.h"

namespace edict {

class CsvRowReader : public CsvRows {
 protected:
  using Texts = std::vector<std::unique_ptr<TextColumn>>;
  // How a cell reads as a number.
  enum class Number { finite, none, out_of_range, infinite };

  CsvRowReader(const CsvText& text, const CsvLayout& layout, const ReadOptions& options,
               CsvProblems& problems);

  const CsvText& text() const { return text_; }
  const CsvLayout& layout() const { return layout_; }

  void begin_row();
  // The row is as if it had not been there; what was wrong with it has been noted.
  void forget(std::size_t observed);
  void note_no_id(const char* row);
  void note_ragged(const char* row, std::size_t found);
  // Of a row with values and no time. Devices write what they know of themselves first.
  void note_without_time(const char* row, const char* time_at);
  void note_quote(const char* at, std::string_view reason);
  // After the last row.
  void finish_times();
  void add_observation(std::int32_t feature, double value) {
    table.rows.feature.push_back(feature);
    table.rows.value.push_back(value);
  }

  // ---- cells (csv_row_cells.cpp) ----

  Number read_slowly(std::string_view text, double& value);
  // A number, missing or a text.
  double value_of(const CsvCell& cell, std::size_t column, Texts& texts, std::size_t index);
  // Every value is a name, be it a number.
  double category_of(const CsvCell& cell, std::size_t column, TextColumn& texts);
  double add_text(const CsvCell& cell, std::size_t column, TextColumn& texts);
  // A time that is a number; what is none was noted.
  double time_number_of(const CsvCell& cell, std::size_t column);
  double unix_time_of(double number, const char* at, std::size_t column);
  double date_of(const CsvCell& cell, std::size_t column, std::int16_t& zone);
  double clock_of(const CsvCell& cell, std::size_t column);
  bool check_length(const CsvCell& cell, std::size_t column);
  // An id, a feature's name, or a label that may be unknown: `words` counts how it is said then.
  std::int32_t name_of(const CsvCell& cell, std::size_t column, CsvNames& names,
                       UnknownWords* words);

  // ---- series and features (csv_row_facts.cpp) ----

  // What belongs to the series and not to the row: first known in any row, the same in all others.
  void describe(const char* row, std::size_t series, std::int32_t label, std::int32_t group);
  // False where the row is nothing.
  bool finish_long_row(const char* row, std::int32_t feature, const char* value_at);
  // One feature has one unit.
  void check_unit(const char* row, std::size_t feature, std::int32_t unit);

  std::vector<double> row_statics_;
  std::string scratch_;
  bool comma_is_point_ = false;
  bool any_time_ = false;
  bool time_was_wrong_ = false, name_was_long_ = false;  // in this row, and noted as such
  const bool has_clock_;

 private:
  void note_no_time(const char* at);
  void note_infinite(const CsvCell& cell, std::size_t column, Number found);
  void note_time(const CsvCell& cell, std::size_t column, const std::string& what);
  // Whether the word stands for a missing value, and is counted as such.
  bool is_unknown(std::string_view text, const TextColumn* texts, UnknownWords& words) const;

  void check_feature(const char* row, std::int32_t feature);
  void prepare_texts(Texts& texts, std::size_t index, const std::string& column, bool is_static);
  bool all_names(const std::string& column, bool is_static) const;

  const CsvText& text_;
  const ReadOptions& options_;
  CsvLayout layout_;  // knows which columns hold categories alone
  CsvProblems& problems_;
  const MissingCodes codes_;
  const DateStyle* const style_;
  const std::size_t value_column_;  // of the long form
  std::int32_t features_checked_ = 0;
  DateStyle clock_style_;  // of the column beside the dates
  const char* first_without_time_ = nullptr;
  std::vector<TextColumn*> row_texts_;  // of the row at hand

  // The date above.
  std::int16_t last_zone_ = 0;
  std::size_t dates_ = 0;
  std::string last_date_;
  double last_time_ = 0;
};

}  // namespace edict
