// Texts of a caller's column, read as the cells of a file are.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "data/read/cells/missing_codes.h"
#include "data/read/cells/text_values.h"
#include "data/read/cells/written_number.h"
#include "data/read/csv/meaning/csv_columns.h"
#include "front/capi/border.h"

using namespace edict;
using namespace edict::capi;

namespace {

struct CellOptions {
  std::string column, decimal, unit;
  bool known_as_numbers = false;
  bool are_names = false;           // of labels, even where they are written as numbers
  std::vector<std::size_t> counts;  // cells that hold each text; empty: one
};

CellOptions cell_options_from(const char* text) {
  CellOptions options;
  try {
    const nlohmann::json given = parse_json(text);
    options.column = given.value("column", "");
    options.decimal = given.value("decimal", "");
    options.unit = given.value("unit", "");
    options.known_as_numbers = given.value("numbers", false);
    options.are_names = given.value("names", false);
    options.counts = given.value("counts", std::vector<std::size_t>{});
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("options: ") + e.what());
  }
  if (!options.decimal.empty() && options.decimal != "point" && options.decimal != "comma")
    throw Error(fmt::format("{}: give point or comma", option("decimal", options.decimal)));
  return options;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The cells of one column: plain numbers, and texts that its meaning decides.
struct Cells {
  std::vector<std::string> texts;            // trimmed
  std::vector<std::optional<double>> plain;  // those that are read as they stand
  TextColumn others;
  ColumnContext context;
};

// Where some text has a comma, or is said to, points may divide digits in all others.
Cells cells_from(std::vector<std::string> given, const CellOptions& options) {
  Cells cells;
  bool points_decide = options.decimal != "comma";
  for (const std::string& text : given) {
    cells.texts.emplace_back(trimmed(text));
    const std::string& cell = cells.texts.back();
    const bool plain = finite_number(cell).has_value();
    if (options.decimal.empty() && !plain && cell.find(',') != std::string::npos)
      points_decide &= !read_written_number(cell).has_value();
  }
  ColumnContext& context = cells.context;
  double logarithms = 0, not_zero = 0;
  for (std::size_t i = 0; i < cells.texts.size(); ++i) {
    const std::string& cell = cells.texts[i];
    const std::size_t count = options.counts.empty() ? 1 : options.counts[i];
    std::optional<double> number;
    if (!spells_unknown(cell)) number = finite_number(cell);
    if (number) {
      context.numbers += count;
      context.largest = std::max(context.largest, std::abs(*number));
      if (*number != 0) logarithms += std::log2(std::abs(*number)), ++not_zero;
      context.fractions |= points_decide && *number != std::floor(*number);
    }
    if (number && (!points_decide || options.are_names)) number.reset();
    if (!number && !spells_unknown(cell)) {
      const std::int32_t text = text_of(cells.others.add(cell, cell.data()));
      cells.others.cells += count - 1;
      cells.others.count[static_cast<std::size_t>(text)] += count - 1;
    }
    cells.plain.push_back(number);
  }
  if (not_zero > 0) context.magnitude = logarithms / not_zero;
  cells.others.all_names = options.are_names;
  context.known_as_numbers = options.known_as_numbers;
  context.known_unit = options.unit;
  context.decimal_given = !options.decimal.empty();
  if (context.decimal_given)
    context.decimal = options.decimal == "comma" ? DecimalMark::comma : DecimalMark::point;
  return cells;
}

// What is wrong with the column's first text that cannot be read.
Error mistake(const std::string& text, const std::string& column, const ColumnMeaning& meaning) {
  Error::Fields fields{.subject = fmt::format("column '{}'", column), .problem = {}, .remedy = {}};
  switch (meaning.mistake) {
    case ColumnMeaning::Mistake::unit:
      fields.problem = fmt::format("'{}' is in another unit than {}", text, meaning.other_unit);
      fields.remedy = "write one unit";
      break;
    case ColumnMeaning::Mistake::scale:
      fields.problem =
          fmt::format("'{}' has a unit, and the numbers without one are far from it", text);
      fields.remedy = "write one unit";
      break;
    case ColumnMeaning::Mistake::decimals: {
      const auto number = read_written_number(text);
      fields.problem =
          fmt::format("'{}' may be {} or {}", text, number->with_point, number->with_comma);
      fields.remedy =
          fmt::format("give {} or {}", option("decimal", "point"), option("decimal", "comma"));
      break;
    }
    case ColumnMeaning::Mistake::pair:
      fields.problem = fmt::format("'{}' holds two numbers", text);
      fields.remedy = "divide the column in two, or leave it out";
      break;
    case ColumnMeaning::Mistake::no_number:
      fields.problem = fmt::format("'{}' is not a number", text);
      fields.remedy = fmt::format("write one, or name what stands for a missing value by {}",
                                  option("missing"));
  }
  return {ErrorCode::malformed, std::move(fields)};
}

// What was done to texts that hold more than a number.
std::vector<std::string> notes_of(const ColumnMeaning& meaning, const CellOptions& options) {
  std::vector<std::string> notes;
  if (meaning.truth) notes.emplace_back("1 for yes and 0 for no");
  if (meaning.with_unit > 0 && meaning.unit != options.unit)
    notes.push_back(fmt::format("'{}' taken off", meaning.unit));
  if (meaning.limits > 0)
    notes.push_back(fmt::format("'{}' and its like read as the limit", meaning.limit_example));
  if (meaning.grouped > 0) notes.emplace_back("marks between digits left out");
  if (meaning.commas > 0) notes.emplace_back("read with a decimal comma");
  if (meaning.missing_words > 0)
    notes.push_back(fmt::format("'{}' counts as missing", meaning.word_example));
  return notes;
}

}  // namespace

int edict_read_cells(int64_t count, const char* const* cells, const char* options, double* values,
                     edict_bytes** out) {
  return run_guarded([&] {
    check_given(options, "options");
    check_given(out, "out");
    const CellOptions reading = cell_options_from(options);
    if (!reading.counts.empty() &&
        (reading.counts.size() != size_of(count, "count") ||
         std::find(reading.counts.begin(), reading.counts.end(), 0) != reading.counts.end()))
      throw Error("counts: give a number above 0 for each text");
    Cells given = cells_from(names_from(count, cells, "cells"), reading);
    const ColumnMeaning meaning = meaning_of(given.others, given.context);
    std::string problem;
    if (meaning.kind == ColumnMeaning::Kind::mistakes) {
      const auto wrong = std::find(meaning.wrong.begin(), meaning.wrong.end(), 1);
      const auto text = static_cast<std::size_t>(wrong - meaning.wrong.begin());
      const Error error = mistake(given.others.names.list().at(text), reading.column, meaning);
      if (meaning.mistake != ColumnMeaning::Mistake::no_number) throw error;
      problem = error.what();
    }
    const bool numbers = meaning.kind == ColumnMeaning::Kind::number;
    for (std::size_t i = 0; i < given.texts.size() && values && numbers; ++i) {
      values[i] = given.plain[i].value_or(kMissing);
      if (given.plain[i] || spells_unknown(given.texts[i])) continue;
      const auto text = static_cast<std::size_t>(given.others.names.index_of(given.texts[i]));
      values[i] = meaning.numbers[text];
    }
    // Words such as NA, which are no categories.
    std::vector<std::string> unknown;
    UnknownWords words;
    for (const std::string& text : given.texts)
      if (const int word = unknown_word(text); word >= 0) {
        ++words.cells[static_cast<std::size_t>(word)];
        unknown.push_back(text);
      }
    if (!numbers && words_belong(words, given.others.names.list()))
      std::erase_if(unknown, [](const std::string& word) { return !word.empty(); });
    constexpr const char* kKinds[] = {"numbers", "categories", "mistakes", "texts"};
    *out = new_bytes(json_text({{"kind", kKinds[static_cast<std::size_t>(meaning.kind)]},
                                {"unit", numbers ? meaning.unit : std::string()},
                                {"unknown", unknown},
                                {"problem", problem},
                                {"notes", notes_of(meaning, reading)}}));
  });
}

int edict_find_codes(int64_t count, const double* values, edict_bytes** out) {
  return run_guarded([&] {
    check_given(out, "out");
    const std::size_t size = size_of(count, "count");
    if (size > 0) check_given(values, "values");
    Extremes extremes;
    for (std::size_t i = 0; i < size; ++i)
      if (std::isfinite(values[i])) extremes.add(values[i]);
    nlohmann::json codes = nlohmann::json::array();
    for (const Extremes::Sentinel& found : extremes.sentinels())
      codes.push_back({{"value", found.value}, {"cells", found.cells}});
    *out = new_bytes(json_text(codes));
  });
}
