// The columns of a table while it is decided what they are: which are still free, and how they are
// found by their names and their cells. The steps are in choose_time, choose_series and
// choose_values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/columns/column_layout.h"
#include "data/read/columns/column_names.h"
#include "data/read/columns/table_sample.h"
#include "data/read/read_options.h"

namespace edict {

inline constexpr std::string_view kStaticPrefix = "static:";
inline constexpr std::string_view kNoColumn = "none";

class ColumnChoice {
 public:
  ColumnChoice(const TableSample& the_sample, const ReadOptions& the_options,
               ColumnLayout& the_layout);

  const TableSample& sample;
  const ReadOptions& options;
  ColumnLayout& layout;

  std::size_t size() const { return layout.names.size(); }
  const std::string& name(std::size_t column) const { return layout.names[column]; }

  // Neither taken nor reserved for what an option names it for.
  bool free(std::size_t column) const {
    return layout.columns[column].kind == ColumnKind::ignored && !taken_[column];
  }
  void reserve(std::size_t column) { taken_[column] = true; }
  void take(std::size_t column, ColumnKind kind, std::size_t index = 0);

  std::optional<std::size_t> find(std::string_view name) const;
  std::optional<std::size_t> find_free(std::string_view name) const;
  std::optional<std::size_t> find_usual(ColumnRole role) const;
  template <class Is>
  std::optional<std::size_t> find_by_cells(Is is) const {
    for (std::size_t c = 0; c < size(); ++c)
      if (free(c) && !name(c).starts_with(kStaticPrefix) && is(sample[c])) return c;
    return std::nullopt;
  }

  // An option named it, so it must be there; lower and upper case may differ.
  std::optional<std::size_t> find_in_any_case(std::string_view name) const;
  std::size_t demand(std::string_view name, std::string_view by) const;
  // The same of a list. A name with a comma in it may have been taken apart.
  std::vector<std::size_t> demand_all(const std::vector<std::string>& names,
                                      std::string_view by) const;

  // What the model's data had, where there is a model.
  const Reading* known() const { return options.like ? &options.like->reading : nullptr; }

  // Throw Error about the table and about a column of it.
  [[noreturn]] static void fail(const std::string& problem, const std::string& remedy = {});
  [[noreturn]] void fail(std::size_t column, const std::string& problem,
                         const std::string& remedy = {}) const;

 private:
  std::vector<bool> taken_;
  std::vector<std::string> squeezed_;  // the names
};

inline bool contains(const std::vector<std::string>& names, std::string_view name) {
  for (const std::string& each : names)
    if (each == name) return true;
  return false;
}

}  // namespace edict
