#include "data/read/csv/meaning/csv_mistakes.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "data/read/cells/written_number.h"

namespace edict {
namespace {

// What is wrong with a text of the column.
std::string mistake_text(const std::string& text, std::string_view column,
                         const ColumnMeaning& meaning, bool is_needed) {
  const std::string leave_out =
      is_needed ? std::string() : ", or leave it out with " + option("ignore", column);
  switch (meaning.mistake) {
    case ColumnMeaning::Mistake::unit:
      return fmt::format("{} is in another unit than {}; write one unit{}", in_quotes(text),
                         meaning.other_unit, leave_out);
    case ColumnMeaning::Mistake::scale:
      return fmt::format(
          "{} has a unit, and the numbers without one are far from it; write one unit{}",
          in_quotes(text), leave_out);
    case ColumnMeaning::Mistake::decimals: {
      const auto number = read_written_number(text);
      return fmt::format("{} may be {} or {}; give {} or {}", in_quotes(text), number->with_point,
                         number->with_comma, option("decimal", "point"),
                         option("decimal", "comma"));
    }
    case ColumnMeaning::Mistake::pair:
      return fmt::format("{} holds two numbers; divide the column in two{}", in_quotes(text),
                         leave_out);
    case ColumnMeaning::Mistake::no_number:
      break;
  }
  return fmt::format(
      "{} is not a number; write one, or leave the cell empty if nothing is known ({} names what "
      "stands for it){}",
      in_quotes(text), option("missing"),
      meaning.mostly_texts ? "; " + option("category", column) + " where its values are names"
                           : "");
}

}  // namespace

void note_mistakes(const TextColumn& texts, const ColumnMeaning& meaning, std::string_view column,
                   bool is_needed, CsvProblems& problems) {
  const auto is_wrong = [&](std::int32_t text) {
    return meaning.wrong[static_cast<std::size_t>(text)] != 0;
  };
  const auto note = [&](std::int32_t text, const char* at) {
    problems.add(CsvProblem::number, at, column,
                 mistake_text(texts.names.list()[static_cast<std::size_t>(text)], column, meaning,
                              is_needed));
  };
  std::size_t all = 0, noted = 0;
  for (std::size_t t = 0; t < texts.count.size(); ++t)
    if (is_wrong(static_cast<std::int32_t>(t))) all += texts.count[t];
  std::vector<std::uint8_t> seen(meaning.wrong.size(), 0);
  for (std::size_t k = 0; k < texts.at.size(); ++k)
    if (is_wrong(texts.text[k])) {
      note(texts.text[k], texts.at[k]);
      seen[static_cast<std::size_t>(texts.text[k])] = 1;
      ++noted;
    }
  // Texts that first stand further below.
  for (std::size_t t = 0; t < texts.count.size() && noted < TextColumn::kKept; ++t)
    if (is_wrong(static_cast<std::int32_t>(t)) && texts.count[t] > 0 && seen[t] == 0) {
      note(static_cast<std::int32_t>(t), texts.first_at[t]);
      ++noted;
    }
  problems.count(CsvProblem::number, all - noted);
}

}  // namespace edict
