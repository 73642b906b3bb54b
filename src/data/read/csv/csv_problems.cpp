#include "data/read/csv/csv_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text/utf8.h"
#include "data/read/csv/csv_text.h"

namespace edict {
namespace {

struct Words {
  std::string_view one, many;
};
constexpr std::array<Words, kCsvProblems> kWords{{
    {"row with another number of cells", "rows with another number of cells"},
    {"row without an id", "rows without an id"},
    {"row with values and no time", "rows with values and no time"},
    {"time that cannot be read", "times that cannot be read"},
    {"cell that is not a number", "cells that are not numbers"},
    {"number that is not finite", "numbers that are not finite"},
    {"text that is too long", "texts that are too long"},
    {"value in another unit", "values in another unit"},
    {"row without a usable feature name", "rows without a usable feature name"},
    {"value that changes within its series", "values that change within their series"},
    {"observation given twice with different values",
     "observations given twice with different values"},
    {"quote that is not closed", "quotes that are not closed"},
}};

}  // namespace

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", shortened(text, 40)); }

void CsvProblems::add(CsvProblem kind, const char* at, std::string_view column,
                      std::string_view what) {
  count(kind, 1);
  of_row_.push_back(kind);
  // Those that are found late may stand early, so that a few more than shown are kept.
  if (found_.size() < 4 * kShown)
    found_.push_back(
        {at, column.empty() ? std::string(what) : fmt::format("column '{}': {}", column, what)});
}

void CsvProblems::drop_row(const char* row) {
  for (const CsvProblem kind : of_row_) --counts_[static_cast<std::size_t>(kind)];
  of_row_.clear();
  while (!found_.empty() && found_.back().at >= row) found_.pop_back();
}

bool CsvProblems::empty() const {
  return std::all_of(counts_.begin(), counts_.end(), [](std::size_t n) { return n == 0; });
}

void CsvProblems::report() const {
  if (empty()) return;
  const std::size_t all = std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
  std::vector<Found> shown = found_;
  std::stable_sort(shown.begin(), shown.end(),
                   [](const Found& a, const Found& b) { return a.at < b.at; });
  shown.resize(std::min(shown.size(), kShown));
  if (all == 1) text_.fail(shown.front().at, shown.front().what);

  std::string kinds;
  for (std::size_t k = 0; k < kCsvProblems; ++k)
    if (counts_[k] > 0)
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", counts_[k],
                           counts_[k] == 1 ? kWords[k].one : kWords[k].many);
  std::string text =
      fmt::format("{}: {} problems, so nothing was read: {}", text_.name(), all, kinds);
  // Lines are counted from one place to the next, not from the beginning for each.
  const char* from = text_.first_byte();
  std::size_t line = 1;
  for (const Found& found : shown) {
    line += static_cast<std::size_t>(std::count(from, found.at, '\n'));
    from = found.at;
    text += fmt::format("\n  line {}: {}", line, found.what);
  }
  if (all > shown.size()) text += fmt::format("\n  and {} more", all - shown.size());
  throw Error(text);
}

}  // namespace edict
