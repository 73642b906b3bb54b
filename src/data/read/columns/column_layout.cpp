#include "data/read/columns/column_layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace edict {

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), kShown));
  return fmt::format(
      "'{}'{}", fmt::join(names.begin(), names.begin() + shown, "', '"),
      names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

void ColumnLayout::count_runs() {
  std::uint32_t run = 0;
  for (std::size_t c = columns.size(); c-- > 0;)
    columns[c].run = run = columns[c].kind == ColumnKind::feature ? run + 1 : 0;
}

std::string ColumnLayout::name_of(ColumnKind kind) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [kind](const Column& column) { return column.kind == kind; });
  return found == columns.end() ? std::string()
                                : names[static_cast<std::size_t>(found - columns.begin())];
}

std::string ColumnLayout::static_column(std::size_t index) const {
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].kind == ColumnKind::static_covariate &&
        static_cast<std::size_t>(columns[c].index) == index)
      return names[c];
  return {};
}

}  // namespace edict
