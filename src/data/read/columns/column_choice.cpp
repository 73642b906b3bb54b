#include "data/read/columns/column_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace edict {

ColumnChoice::ColumnChoice(const TableSample& the_sample, const ReadOptions& the_options,
                           ColumnLayout& the_layout)
    : sample(the_sample),
      options(the_options),
      layout(the_layout),
      taken_(the_layout.names.size(), false) {
  layout.columns.assign(layout.names.size(), {ColumnKind::ignored, 0, 0});
  for (const std::string& name : layout.names) squeezed_.push_back(squeezed(name));
}

void ColumnChoice::take(std::size_t column, ColumnKind kind, std::size_t index) {
  layout.columns[column] = {kind, static_cast<std::int32_t>(index), 0};
  taken_[column] = true;
}

std::optional<std::size_t> ColumnChoice::find(std::string_view name) const {
  const auto exact = std::find(layout.names.begin(), layout.names.end(), name);
  if (exact != layout.names.end()) return static_cast<std::size_t>(exact - layout.names.begin());
  std::optional<std::size_t> alike;  // in another case, where no other name could be meant
  for (std::size_t c = 0; c < size(); ++c)
    if (lower(layout.names[c]) == lower(name)) {
      if (alike) return std::nullopt;
      alike = c;
    }
  return alike;
}

std::optional<std::size_t> ColumnChoice::find_free(std::string_view name) const {
  const auto column = find(name);
  return column && free(*column) ? column : std::nullopt;
}

std::optional<std::size_t> ColumnChoice::find_usual(ColumnRole role) const {
  for (const std::string_view usual : usual_names(role))
    for (std::size_t c = 0; c < size(); ++c)
      if (squeezed_[c] == usual && free(c)) return c;
  return std::nullopt;
}

std::optional<std::size_t> ColumnChoice::find_in_any_case(std::string_view name) const {
  if (const auto column = find(name)) return column;
  const std::string wanted = lower(name);
  for (std::size_t c = 0; c < size(); ++c)
    if (lower(layout.names[c]) == wanted) return c;
  return std::nullopt;
}

std::size_t ColumnChoice::demand(std::string_view name, std::string_view by) const {
  if (const auto column = find_in_any_case(name)) return *column;
  fail(fmt::format("{}: there is no column '{}'; it has {}", option(by), name,
                   quoted_list(layout.names)));
}

std::vector<std::size_t> ColumnChoice::demand_all(const std::vector<std::string>& names,
                                                  std::string_view by) const {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string joined = names[i];
    std::size_t last = i;
    auto column = find_in_any_case(joined);
    for (std::size_t k = i + 1; !column && k < names.size(); ++k) {
      joined += ',' + names[k];
      column = find_in_any_case(joined);
      if (column) last = k;
    }
    columns.push_back(column ? *column : demand(names[i], by));
    i = last;
  }
  return columns;
}

void ColumnChoice::fail(const std::string& problem, const std::string& remedy) {
  throw Error(ErrorCode::malformed, {.problem = problem, .remedy = remedy});
}

void ColumnChoice::fail(std::size_t column, const std::string& problem,
                        const std::string& remedy) const {
  throw Error(
      ErrorCode::malformed,
      {.place = fmt::format("column '{}'", name(column)), .problem = problem, .remedy = remedy});
}

}  // namespace edict
