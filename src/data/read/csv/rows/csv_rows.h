// The rows of a table, read one after the other. What is wrong with one is noted and reading goes
// on, so that all of it is told at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "data/read/csv/csv_problems.h"
#include "data/read/csv/csv_text.h"
#include "data/read/csv/layout/csv_layout.h"
#include "data/read/csv/rows/csv_table.h"
#include "data/read/read_options.h"

namespace edict {

// A row of the file, whether or not it holds a value.
struct CsvPlace {
  const char* begin;
  std::int32_t series;
  double time;  // raw; NaN without one
};

class CsvRows {
 public:
  virtual ~CsvRows() = default;
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  // All of them, up to the end or to a quote that is broken; returns where that is.
  virtual const char* read_all() = 0;
  // From p up to the row that makes one more event than `events`, counted from the first row on;
  // returns where that row begins.
  virtual const char* read_to(const char*& p, std::size_t events) = 0;

  // Whenever the table's rows take more than `bytes` they are handed to `empty`, which leaves none.
  void keep_within(std::size_t bytes, std::function<void()> empty) {
    most_bytes_ = bytes;
    empty_ = std::move(empty);
  }

  // Every row that is read is listed here, in the order of the file.
  void list_places(std::vector<CsvPlace>& places) { places_ = &places; }

  CsvTable table;

 protected:
  CsvRows() = default;

  std::size_t most_bytes_ = std::numeric_limits<std::size_t>::max();
  std::function<void()> empty_;
  std::vector<CsvPlace>* places_ = nullptr;
};

// For the text's separator. What it is given must outlive it.
std::unique_ptr<CsvRows> csv_rows(const CsvText& text, const CsvLayout& layout,
                                  const ReadOptions& options, CsvProblems& problems);

}  // namespace edict
