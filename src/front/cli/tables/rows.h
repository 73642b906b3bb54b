// Tables that are written row by row, as CSV or as a JSON list of objects.
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/atomic_file.h"
#include "data/dataset.h"
#include "front/cli/shard.h"

namespace edict::cli {

enum class RowFormat { csv, json };

// --out, --json (the same as --out with --format json) and --format.
struct RowOutput {
  std::string path, json, format;

  void add_to(CLI::App& command, const std::string& type);
  // After parsing: where to write. Throws Error where neither or both were given.
  const std::string& destination() const;
  // As asked for, or by the name of the file.
  RowFormat resolved() const;
};

class RowLayout {
 public:
  // Of a shard, rows end with the number of their series. Throws Error where its format cannot.
  RowLayout(RowFormat format, std::vector<std::string> columns, const Shard& shard = {});

  RowFormat format() const { return format_; }
  std::size_t columns() const { return columns_.size(); }
  // A name or an id as it stands in a row.
  std::string cell(std::string_view text) const;
  // A time of a series of the data, as their file would write it.
  std::string time_cell(const Dataset& data, std::size_t series, double time) const;
  // What comes before the cell of a column.
  const std::string& before(std::size_t column) const { return before_[column]; }
  std::string header() const;
  bool sharded() const { return !shard_.whole(); }

 private:
  RowFormat format_;
  Shard shard_;
  std::vector<std::string> columns_, before_;
};

// Appends rows to a text, each cell in the order of the columns. What is not a number becomes an
// empty cell (null in JSON), infinity "inf" (null).
class RowText {
 public:
  explicit RowText(const RowLayout& layout) : layout_(layout) {}

  // A row of this series of the data.
  void begin(std::size_t series) {
    column_ = 0;
    series_ = series;
  }
  void name(std::string_view cell);  // from the layout
  void exact(double value);          // with all the digits it has
  void number(double value);         // with nine
  void none();
  void end();
  bool full() const { return column_ == layout_.columns(); }  // the row has all its cells

  std::size_t rows() const { return rows_; }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  bool written(double value);

  const RowLayout& layout_;
  std::string text_;
  std::size_t column_ = 0, rows_ = 0, series_ = 0;
};

// The file: header, rows, end.
class RowFile {
 public:
  RowFile(const std::string& path, const RowLayout& layout);
  RowFile(const std::string& path, RowFormat format, std::string_view header);
  void write(std::string_view rows);
  void commit();

 private:
  RowFormat format_;
  AtomicFile file_;
  bool first_ = true;
};

}  // namespace edict::cli
