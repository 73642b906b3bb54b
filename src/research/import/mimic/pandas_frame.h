// A pandas DataFrame in an HDF5 file, in either of the two layouts that DataFrame.to_hdf writes:
//
// clang-format off
//   fixed  key/axis1…                     the row index (a MultiIndex as axis1_level<i> values and
//                                         axis1_label<i> codes)
//          key/block<k>_items…            the names of a block's columns
//          key/block<k>_values            [rows × items]
//   table  key/table                      one compound record a row; a member is one column, or an
//                                         array of columns whose names are pickled in the
//                                         attribute <member>_kind
//          key/meta/<member>/meta/table   the categories of a categorical member
// clang-format on
//
// Columns of Python objects (texts in the fixed layout) are pickled arrays and are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "research/import/mimic/hdf5_file.h"

namespace edict {

class PandasFrame {
 public:
  struct Column {
    std::string name;   // of several levels all but the last, with blanks between
    std::string level;  // the last of several levels, else empty
  };

  virtual ~PandasFrame() = default;

  std::size_t rows() const { return rows_; }
  // The columns of numbers; in the table layout also those of the row index.
  const std::vector<Column>& columns() const { return columns_; }

  // A column of whole numbers or a level of the row index.
  virtual std::vector<std::int64_t> integers(const std::string& name) const = 0;
  // A column of texts or categories; nothing where it is not there or pickled.
  virtual std::optional<std::vector<std::string>> texts(const std::string& name) const = 0;
  // Rows [first, first + count), columns().size() numbers each, NaN where missing.
  virtual void read(std::size_t first, std::size_t count, double* out) const = 0;

  std::optional<std::size_t> find(const std::string& name) const;
  std::vector<double> numbers(std::size_t column) const;

 protected:
  std::size_t rows_ = 0;
  std::vector<Column> columns_;
};

// The file must outlive the frame.
std::unique_ptr<PandasFrame> open_pandas_frame(const Hdf5File& file, const std::string& key);

std::unique_ptr<PandasFrame> open_pandas_fixed(const Hdf5File& file, const std::string& key);
std::unique_ptr<PandasFrame> open_pandas_table(const Hdf5File& file, const std::string& key);

// A column from the names of its levels.
PandasFrame::Column pandas_column(const std::vector<std::string>& levels);

}  // namespace edict
