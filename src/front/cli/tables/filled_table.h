// The caller's table with its empty cells filled: the same rows in the same order, every other cell
// as it was written.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/predict/impute.h"
#include "data/read/cells/missing_codes.h"
#include "data/read/csv/csv_original.h"
#include "front/cli/tables/rows.h"
#include "model/model.h"

namespace edict::cli {

// What the name of a feature's column of deviations ends with.
inline constexpr const char* kDeviationSuffix = "_sd";

// Throws Error where a column of deviations, --deviations, would have the name of one of these.
void check_new_column(const std::string& name, const std::vector<std::string>& columns);

class FilledTable {
 public:
  // `data`: the table as the model takes it; `features`: those of the model to fill.
  FilledTable(CsvOriginal table, const Model& model, const Dataset& data,
              const std::vector<std::size_t>& features, bool deviations, RowFormat format,
              const Shard& shard);

  std::string header() const;
  std::size_t rows() const { return table_.rows.size(); }
  std::size_t series() const { return rows_of_.size(); }
  std::size_t series_of(std::size_t row) const { return series_[row]; }
  // Rows with an empty cell that stays empty, because they have no time.
  std::size_t without_time() const { return without_time_; }

  // When the series has cells to fill, ascending; −∞ where it has no event to count time from.
  std::vector<double> times(std::size_t series) const;

  // The rows of a series with their numbers in the table.
  struct Filled {
    std::vector<std::pair<std::size_t, std::string>> rows;
    std::size_t cells = 0;
  };
  Filled filled(const ImputedSeries& imputed) const;

 private:
  // What an empty cell of a feature becomes: a number; the likeliest of several categories, each of
  // which is a feature of the model; or, in a column of words for true and false, one of these.
  struct Filling {
    std::vector<std::size_t> features;
    std::vector<std::string> categories;
    std::string no, yes;
    bool has_deviation() const { return categories.empty(); }
  };
  struct Value {
    std::string text;
    std::string deviation;  // empty where the value was observed at this time
  };

  template <class Visit>
  void each_cell(std::size_t row, const Visit& visit) const;
  // Numbers of fillings; kNone where nothing is filled.
  std::size_t filling_of(std::string_view name) const;
  std::size_t column_of(const std::string& name) const;
  std::string feature_of_row(std::size_t row) const;  // empty in wide form
  bool is_missing(std::string_view feature, std::string_view cell) const;
  void choose(const Model& model, const std::vector<std::size_t>& features);
  void look_at_cells();
  void name_deviations();
  std::string written(std::size_t row, const ImputedSeries& imputed, std::size_t& cells) const;
  Value value_of(const Filling& filling, const ImputedSeries& imputed, std::size_t time) const;
  std::string number(double value, bool given) const;
  std::string text_cell(std::string_view text) const;
  std::string json_cell(std::size_t column, std::string_view text) const;
  bool is_csv() const { return format_ == RowFormat::csv; }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  CsvOriginal table_;
  const Dataset& data_;
  const bool deviations_;
  const RowFormat format_;
  const Shard shard_;
  const MissingCodes codes_;
  std::vector<Filling> fillings_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  // columns, or features in long form
  std::vector<std::size_t> of_column_;                       // fillings, in wide form
  std::vector<std::string> deviation_names_;                 // by column; empty where it has none
  std::vector<std::size_t> series_;                          // of each row
  std::vector<double> time_;                       // of each row with cells to fill, or NaN
  std::vector<std::vector<std::size_t>> rows_of_;  // of each series
  std::size_t without_time_ = 0;
};

// The rows of some series.
struct FilledRows : app::ImputedRows {
  explicit FilledRows(const FilledTable& to) : table(to) {}
  void add(const ImputedSeries& imputed) override;

  const FilledTable& table;
  FilledTable::Filled filled;
};

// Rows of chosen series wait until those before them are written: series may take turns in the
// table.
class RowsInOrder {
 public:
  RowsInOrder(const FilledTable& table, const std::vector<std::size_t>& series);

  // The rows that can be written now, one after the other.
  std::string add(std::vector<std::pair<std::size_t, std::string>> rows);
  std::size_t written() const { return written_; }

 private:
  const FilledTable& table_;
  std::vector<bool> chosen_;  // series
  std::vector<std::optional<std::string>> waiting_;
  std::size_t next_ = 0, written_ = 0;
};

}  // namespace edict::cli
