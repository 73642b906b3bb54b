#include "data/read/columns/choose_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_set>

#include "base/error.h"
#include "data/time/date_text.h"

namespace edict {
namespace {

std::optional<double> number_of_time(const std::string& cell) {
  if (const auto date = parse_date(cell)) return date->microseconds;
  return number_with_comma(cell);
}

// How the values of a column lie in the first rows.
struct Blocks {
  std::size_t rows = 0, blocks = 0;  // a block: neighbouring rows with one value
  bool apart = false;                // a value comes again behind others
  bool one_clock = true;             // every row is later than the one before
};
Blocks blocks_of(const ColumnChoice& choice, std::size_t column, std::size_t time) {
  constexpr std::size_t kRows = 1000;
  Blocks result;
  double latest = -std::numeric_limits<double>::infinity();
  std::string above;
  std::unordered_set<std::string> seen;
  choice.sample.visit_rows([&](std::span<const std::string> cells) {
    const auto now = number_of_time(cells[time]);
    result.one_clock &= now && *now > latest;
    latest = now.value_or(latest);
    if (result.rows++ == 0 || cells[column] != above) {
      ++result.blocks;
      result.apart |= !seen.insert(cells[column]).second;
      above = cells[column];
    }
    return result.one_clock && result.rows < kRows;
  });
  return result;
}

// Whole numbers that come and go while one clock runs on are measured.
bool are_measured(const ColumnChoice& choice, std::size_t column, std::size_t time) {
  constexpr std::size_t kRowsOfSeries = 3;
  if (!all_numbers(choice.sample[column]) || names_id(choice.name(column))) return false;
  const Blocks found = blocks_of(choice, column, time);
  return found.one_clock && found.blocks > 1 &&
         (found.apart || found.rows < kRowsOfSeries * found.blocks);
}

bool may_be_ids(std::span<const std::string> cells) {
  constexpr std::size_t kFew = 3;
  const std::unordered_set<std::string_view> different(cells.begin(), cells.end());
  const auto whole = [](const std::string& cell) {
    const auto number = number_with_comma(cell);
    return !number || *number == std::floor(*number);
  };
  return !all_dates(cells) && !all_clocks(cells) &&
         std::all_of(cells.begin(), cells.end(), whole) &&
         (cells.size() <= kFew || different.size() < cells.size());
}

}  // namespace

std::optional<std::size_t> choose_named_id(ColumnChoice& choice) {
  const std::string& given = choice.options.id;
  if (given == kNoColumn) {
    choice.layout.one_series = true;
    return std::nullopt;
  }
  if (!given.empty()) return choice.demand(given, "id");
  const Reading* known = choice.known();
  if (known && !known->id.empty())
    if (const auto found = choice.find_free(known->id)) return found;
  if (const auto found = choice.find_free("id")) return found;
  const auto usual = choice.find_usual(ColumnRole::id);
  if (!usual && known && known->id == kNoColumn) choice.layout.one_series = true;
  return usual;
}

void choose_id_by_place(ColumnChoice& choice, std::optional<std::size_t> time) {
  const auto counts_rows = [&](std::size_t column) {
    return contains(choice.layout.row_index, choice.name(column));
  };
  std::size_t first = 0;
  while (first < choice.size() && (choice.name(first).empty() || counts_rows(first))) ++first;
  const bool is_free = first < choice.size() && choice.free(first) && first != time;
  if (first == choice.size() || (choice.known() && !is_free))
    ColumnChoice::fail(fmt::format(
        "column 'id': it is missing; name it with {}, or give {} where the table is one series "
        "(found {})",
        option("id"), option("id", kNoColumn), quoted_list(choice.layout.names)));
  const bool measured = is_free && time && !choice.known() && are_measured(choice, first, *time);
  if (is_free && !measured && may_be_ids(choice.sample[first]))
    return choice.take(first, ColumnKind::id);
  choice.layout.one_series = choice.layout.one_series_guessed = true;
}

void leave_out_row_index(ColumnChoice& choice) {
  bool first = true;
  for (std::size_t c = 0; c < choice.size(); ++c) {
    const bool named = !choice.name(c).empty();
    if (choice.free(c) && choice.name(c) != choice.options.id &&
        names_rows(choice.name(c), first) && all_running(choice.sample[c])) {
      choice.layout.row_index.push_back(choice.name(c));
      choice.reserve(c);
    }
    first &= !named;
  }
}

}  // namespace edict
