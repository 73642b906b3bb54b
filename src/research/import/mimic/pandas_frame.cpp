#include "research/import/mimic/pandas_frame.h"

namespace edict {

std::optional<std::size_t> PandasFrame::find(const std::string& name) const {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].name == name) return i;
  return {};
}

std::vector<double> PandasFrame::numbers(std::size_t column) const {
  std::vector<double> all(rows_ * columns_.size()), result(rows_);
  if (rows_ > 0) read(0, rows_, all.data());
  for (std::size_t i = 0; i < rows_; ++i) result[i] = all[i * columns_.size() + column];
  return result;
}

std::unique_ptr<PandasFrame> open_pandas_frame(const Hdf5File& file, const std::string& key) {
  if (file.has(key + "/table")) return open_pandas_table(file, key);
  return open_pandas_fixed(file, key);
}

PandasFrame::Column pandas_column(const std::vector<std::string>& levels) {
  PandasFrame::Column column;
  if (levels.empty()) return column;
  column.name = levels[0];
  for (std::size_t i = 1; i + 1 < levels.size(); ++i) column.name += " " + levels[i];
  if (levels.size() > 1) column.level = levels.back();
  return column;
}

}  // namespace edict
