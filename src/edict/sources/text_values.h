// Texts where numbers were expected. While a table is read nobody knows yet whether a column holds
// categories, words for true and false, or mistakes: a text stands among the numbers as a NaN that
// carries its number in the column's list of texts, until all of the column has been seen.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edict/data/reading.h"
#include "edict/sources/csv_names.h"

namespace edict {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

namespace text_value {
inline constexpr std::uint64_t kMark = 0x7ff8000100000000;
}  // namespace text_value

inline double value_of_text(std::int32_t text) {
  return std::bit_cast<double>(text_value::kMark | static_cast<std::uint32_t>(text));
}
inline bool is_text(double value) {
  return std::bit_cast<std::uint64_t>(value) >> 32 == text_value::kMark >> 32;
}
inline bool is_missing(double value) { return std::isnan(value) && !is_text(value); }
inline std::int32_t text_of(double value) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(value) & 0xffffffff);
}
inline bool same_value(double a, double b) {
  return a == b || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// "true", "yes", "y", "ja" and their opposites, in any case.
std::optional<bool> spelled_truth(std::string_view text);

// The texts of one column.
struct TextColumn {
  static constexpr std::size_t kKept = 20;
  static constexpr std::size_t kMostCategories = 50;

  CsvNames names;
  std::size_t cells = 0;           // that hold a text
  std::vector<const char*> at;     // of the first ones
  std::vector<std::int32_t> text;  // in those
  bool all_names = false;          // even numbers are names of categories
  // The categories are those of a model, the first of the names; what is none of them is missing.
  std::optional<std::size_t> known;
  std::size_t unknown = 0;

  double add(std::string_view cell, const char* where);
  // Forgets the last cell, which stands behind `row`.
  void take_back(const char* row);
};

// What the columns became, one entry each.
struct ColumnMeaning {
  enum class Kind : std::uint8_t { number, categories, mistakes, left_out };
  Kind kind = Kind::number;
  bool truth = false;                   // words for true and false became 1 and 0
  std::vector<std::string> categories;  // sorted
  std::vector<std::int32_t> rank;       // of each text among them
  std::size_t texts = 0;                // different ones
};

// `numbers`: how many cells of the column hold one. A column that a model knows as numbers is never
// one of categories.
ColumnMeaning meaning_of(const TextColumn& column, std::size_t numbers, bool known_as_numbers);

// A text as the number that its column's meaning gives it, for words of truth; others stay.
double with_truth(double value, const TextColumn& column);

}  // namespace edict
