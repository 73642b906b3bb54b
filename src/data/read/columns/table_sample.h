// What a table shows of itself to the recogniser of columns: the cells of its first rows, and
// a look at all of it where these leave something open.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace edict {

class TableSample {
 public:
  TableSample() = default;
  TableSample(const TableSample&) = delete;
  TableSample& operator=(const TableSample&) = delete;
  virtual ~TableSample() = default;

  // Of the first rows, without those that are missing.
  virtual std::span<const std::string> operator[](std::size_t column) const = 0;

  // The first cell of the whole column that is so; without those that are missing.
  virtual std::optional<std::string> find(
      std::size_t column, const std::function<bool(std::string_view)>& is) const = 0;

  // Shows every row from the first on, missing cells included, until `visit` returns false.
  virtual void visit_rows(
      const std::function<bool(std::span<const std::string> cells)>& visit) const = 0;
};

}  // namespace edict
