// Everything that is wrong with a table, told at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edict {

class CsvText;

enum class CsvProblem : std::uint8_t {
  cells,     // a row with more or fewer than the header
  no_id,     // a row without
  no_time,   // values without
  time,      // that cannot be read
  number,    // a cell that is none
  infinite,  // a number beyond the range, or not finite
  text,      // too long
  unit,      // another one than before
  feature,   // a row of the long form without its name, or with a name that cannot be one
  changed,   // what should be one value a series
  repeated,  // different values of the same id, time and feature
  quote,     // opened and never closed, or closed too early; nothing behind it can be read
};
inline constexpr std::size_t kCsvProblems = 12;

// A cell's text as a problem tells it.
std::string in_quotes(std::string_view text);

class CsvProblems {
 public:
  explicit CsvProblems(const CsvText& text) : text_(text) {}

  // At a place in the text; `column` may be empty. Only the first ones are kept.
  void add(CsvProblem kind, const char* at, std::string_view column, std::string_view what);
  // As many more of the kind, without a place.
  void count(CsvProblem kind, std::size_t more) { counts_[static_cast<std::size_t>(kind)] += more; }

  // What is added from here on belongs to one row, and can be dropped with it.
  void begin_row() { of_row_.clear(); }
  void drop_row(const char* row);

  bool empty() const;

  // Throws Error where there are any: one as `file:line: column 'x': what`, several as a list.
  void report() const;

 private:
  static constexpr std::size_t kShown = 20;

  struct Found {
    const char* at;
    std::string what;
  };
  const CsvText& text_;
  std::vector<Found> found_;
  std::array<std::size_t, kCsvProblems> counts_{};
  std::vector<CsvProblem> of_row_;
};

}  // namespace edict
