// The first rows of a table, by columns, to tell what they are.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/csv/csv_text.h"

namespace edict {

class CsvSample {
 public:
  // From `rows` on, without a row of units that may stand first and without the header again.
  CsvSample(const CsvText& text, std::string_view header, const char* rows, std::size_t columns);

  // Without cells that are missing.
  std::span<const std::string> operator[](std::size_t column) const { return cells_[column]; }

  // Whether the first row looks as if it held units, and where the rows below it begin.
  bool has_units() const { return rows_ != first_; }
  const char* rows() const { return rows_; }

  // The first cell of the column that is so, be it far below; without those that are missing.
  std::optional<std::string> find(std::size_t column,
                                  const std::function<bool(std::string_view)>& is) const;

 private:
  void read(std::size_t most);
  // Calls visit(column, cell) for the row at p. False where a quote ends everything; the reader
  // will tell of it.
  template <class Visit>
  bool read_row(const char*& p, Visit visit) const;

  const CsvText& text_;
  const std::string_view header_;
  const char* const first_;
  const char* rows_;
  const char* second_row_ = nullptr;
  std::vector<std::vector<std::string>> cells_, first_rows_;
};

}  // namespace edict
