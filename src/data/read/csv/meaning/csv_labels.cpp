#include "data/read/csv/meaning/csv_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/read/csv/csv_names.h"

namespace edict {

void check_labels(const CsvText& text, const CsvLayout& layout,
                  const std::vector<std::string>& names) {
  constexpr std::size_t kMostNumbers = 20;
  const auto is_whole = [](const std::string& name) {
    const double number = *finite_number(name);
    return number == std::floor(number);
  };
  if (names.empty() || !std::ranges::all_of(names, [](const std::string& name) {
        return finite_number(name).has_value();
      }))
    return;
  const auto part = std::ranges::find_if_not(names, is_whole);
  if (part == names.end() && names.size() <= kMostNumbers) return;
  throw Error(
      ErrorCode::malformed,
      {.subject = text.name(),
       .place = fmt::format("column '{}'", layout.name_of(ColumnKind::label)),
       .problem = (part == names.end() ? fmt::format("{} different numbers", names.size())
                                       : fmt::format("numbers that are not whole, as {}", *part)) +
                  ", which looks like a quantity and not like classes",
       .remedy = fmt::format("make a few classes of it, choose another column with {}, or "
                             "leave it out with {}",
                             option("label"), option("label", "none"))});
}

}  // namespace edict
