#include "edict/sources/text_values.h"

#include <algorithm>
#include <numeric>

namespace edict {

std::optional<bool> spelled_truth(std::string_view text) {
  if (text.empty() || text.size() > 5) return std::nullopt;
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const std::string_view word : {"true", "yes", "y", "ja"})
    if (lower == word) return true;
  for (const std::string_view word : {"false", "no", "n", "nein"})
    if (lower == word) return false;
  return std::nullopt;
}

double TextColumn::add(std::string_view cell, const char* where) {
  const std::int32_t index = names.index_of(cell);
  if (known && static_cast<std::size_t>(index) >= *known) {
    ++unknown;
    return kMissing;
  }
  ++cells;
  if (at.size() < kKept) {
    at.push_back(where);
    text.push_back(index);
  }
  return value_of_text(index);
}

void TextColumn::take_back(const char* row) {
  if (cells > 0) --cells;  // an unknown one was not counted
  if (at.empty() || at.back() < row) return;
  at.pop_back();
  text.pop_back();
}

ColumnMeaning meaning_of(const TextColumn& column, std::size_t numbers, bool known_as_numbers) {
  ColumnMeaning meaning;
  const std::vector<std::string>& names = column.names.list();
  meaning.texts = names.size();
  if (column.known) {
    meaning.kind = ColumnMeaning::Kind::categories;
    meaning.categories.assign(names.begin(),
                              names.begin() + static_cast<std::ptrdiff_t>(*column.known));
    meaning.rank.resize(*column.known);
    std::iota(meaning.rank.begin(), meaning.rank.end(), 0);
    return meaning;
  }
  if (!column.all_names) {
    if (column.cells == 0) return meaning;  // all were taken back
    meaning.truth = std::all_of(names.begin(), names.end(),
                                [](const auto& name) { return spelled_truth(name).has_value(); });
    if (meaning.truth) return meaning;
    const bool prose = names.size() > TextColumn::kMostCategories && column.cells > numbers;
    if (known_as_numbers || (numbers > 0 && !prose)) {
      meaning.kind = ColumnMeaning::Kind::mistakes;
      return meaning;
    }
  }
  if (names.size() > TextColumn::kMostCategories) {
    meaning.kind = ColumnMeaning::Kind::left_out;
    return meaning;
  }
  meaning.kind = ColumnMeaning::Kind::categories;
  meaning.categories = names;
  meaning.rank.resize(names.size());
  std::iota(meaning.rank.begin(), meaning.rank.end(), 0);
  sort_names(meaning.categories, meaning.rank);
  return meaning;
}

double with_truth(double value, const TextColumn& column) {
  if (!is_text(value)) return value;
  return *spelled_truth(column.names.list()[static_cast<std::size_t>(text_of(value))]) ? 1.0 : 0.0;
}

}  // namespace edict
