// Texts where numbers were expected. While a table is read nobody knows yet whether a column holds
// categories, words for true and false, or mistakes: a text stands among the numbers as a NaN that
// carries its number in the column's list of texts, until all of the column has been seen.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/csv/csv_names.h"
#include "data/reading.h"

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
  static constexpr std::size_t kMostNamedCategories = 1000;  // where an option names the column

  CsvNames names;
  std::size_t cells = 0;              // that hold a text
  std::vector<const char*> at;        // of the first ones
  std::vector<std::int32_t> text;     // in those
  std::vector<std::size_t> count;     // cells of each text
  std::vector<const char*> first_at;  // of each text
  bool all_names = false;             // even numbers are names of categories
  bool keeps_words = false;           // and so are None and -
  // The categories are those of a model, the first of the names; what is none of them is missing.
  std::optional<std::size_t> known;
  std::size_t unknown = 0;

  double add(std::string_view cell, const char* where);
  // Forgets the last cell, which stands behind `row`.
  void take_back(const char* row);
};

// How numbers are written.
enum class DecimalMark : std::uint8_t { open, point, comma };

// What the columns became, one entry each.
struct ColumnMeaning {
  enum class Kind : std::uint8_t { number, categories, mistakes, left_out };
  enum class LeftOut : std::uint8_t { texts, dates, clocks, empty };
  enum class Mistake : std::uint8_t { no_number, unit, scale, decimals, pair };

  Kind kind = Kind::number;
  LeftOut left_out = LeftOut::texts;
  bool truth = false;                   // words for true and false became 1 and 0
  std::vector<double> numbers;          // of each text, where texts are numbers; NaN: missing
  std::vector<std::string> categories;  // sorted
  std::vector<std::int32_t> rank;       // of each text among them; −1: missing
  std::size_t texts = 0;                // different ones

  // What was done to cells that hold more than a number, and to how many.
  std::string unit;  // was taken off
  std::size_t with_unit = 0, limits = 0, grouped = 0, commas = 0, missing_words = 0;
  std::string limit_example, word_example;

  // Which texts are wrong, and how.
  Mistake mistake = Mistake::no_number;
  std::vector<std::uint8_t> wrong;  // of each text
  std::string other_unit;
  bool mostly_texts = false;  // the numbers among them may be names
};

struct ColumnContext {
  std::size_t numbers = 0;        // cells of the column that hold one
  bool fractions = false;         // some of them with decimals
  double largest = 0;             // their greatest amount
  // The mean of their logarithms to the base 2, where it is known.
  double magnitude = std::numeric_limits<double>::quiet_NaN();
  bool known_as_numbers = false;  // by a model: it is never a column of categories
  bool named = false;             // an option names the column: it is not left out as prose
  std::string known_unit;         // that a model's data had
  DecimalMark decimal = DecimalMark::open;
  bool decimal_given = false;                             // and not only seen in other columns
  std::function<bool(std::string_view)> is_missing_text;  // somebody said so
};
ColumnMeaning meaning_of(const TextColumn& column, const ColumnContext& context);

// A text as the number that its column's meaning gives it; others stay.
inline double as_number(double value, const ColumnMeaning& meaning) {
  return is_text(value) && !meaning.numbers.empty()
             ? meaning.numbers[static_cast<std::size_t>(text_of(value))]
             : value;
}

}  // namespace edict
