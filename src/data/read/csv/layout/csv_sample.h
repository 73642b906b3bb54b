// The rows of a table in a text, as far as they tell what its columns are.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/columns/table_sample.h"
#include "data/read/csv/csv_text.h"

namespace edict {

class CsvSample final : public TableSample {
 public:
  // From `rows` on, without rows of units that may stand first and without the header again.
  CsvSample(const CsvText& text, std::string_view header, const char* rows, std::size_t columns);

  std::span<const std::string> operator[](std::size_t column) const override {
    return cells_[column];
  }
  std::optional<std::string> find(std::size_t column,
                                  const std::function<bool(std::string_view)>& is) const override;
  void visit_rows(
      const std::function<bool(std::span<const std::string> cells)>& visit) const override;

  // How many of the first rows hold units or say what was done, as Avg; where those below begin.
  std::size_t rows_below_header() const { return rows_below_header_; }
  const char* rows() const { return rows_; }

 private:
  std::vector<std::vector<std::string>> first_rows(std::size_t most,
                                                   std::vector<const char*>& places) const;
  void leave_out_units();
  // Calls visit(column, cell) for the row at p. False where a quote ends everything; the reader
  // will tell of it.
  template <class Visit>
  bool read_row(const char*& p, Visit visit) const;

  const CsvText& text_;
  const std::string_view header_;
  const char* rows_;
  std::size_t rows_below_header_ = 0;
  std::vector<std::vector<std::string>> cells_;
};

}  // namespace edict
