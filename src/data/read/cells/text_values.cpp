#include "data/read/cells/text_values.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/read/cells/written_number.h"
#include "data/time/date_text.h"

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
  if (static_cast<std::size_t>(index) >= count.size()) {
    count.resize(static_cast<std::size_t>(index) + 1, 0);
    first_at.resize(count.size(), where);
  }
  ++count[static_cast<std::size_t>(index)];
  if (at.size() < kKept) {
    at.push_back(where);
    text.push_back(index);
  }
  return value_of_text(index);
}

void TextColumn::take_back(const char* row) {
  if (cells > 0) --cells;  // an unknown one was not counted
  if (const auto last = static_cast<std::size_t>(names.last());
      last < count.size() && count[last] > 0)
    --count[last];
  if (at.empty() || at.back() < row) return;
  at.pop_back();
  text.pop_back();
}

namespace {

using Kind = ColumnMeaning::Kind;
using Mistake = ColumnMeaning::Mistake;

// What each text of a column says as a number.
struct Texts {
  enum class What : std::uint8_t { number, missing, other };
  std::vector<What> what;
  std::vector<std::optional<WrittenNumber>> number;
  std::size_t numbers = 0, others = 0, declared = 0, words = 0;  // cells
  bool certain_unit = false;
};

Texts looked_at(const TextColumn& column, const ColumnContext& context) {
  Texts texts;
  const std::vector<std::string>& names = column.names.list();
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::size_t cells = t < column.count.size() ? column.count[t] : 0;
    texts.number.push_back(read_written_number(names[t]));
    const bool declared = context.is_missing_text && context.is_missing_text(names[t]);
    if (cells == 0 || declared || says_missing(names[t])) {  // without a cell: of a refused row
      texts.what.push_back(Texts::What::missing);
      (declared ? texts.declared : texts.words) += cells;
    } else if (texts.number.back()) {
      texts.what.push_back(Texts::What::number);
      texts.numbers += cells;
      texts.certain_unit |= texts.number.back()->unit_is_certain;
    } else {
      texts.what.push_back(Texts::What::other);
      texts.others += cells;
    }
  }
  return texts;
}

ColumnMeaning wrong_texts(ColumnMeaning meaning, Mistake mistake, const TextColumn& column,
                          const std::function<bool(std::size_t)>& is_wrong) {
  meaning.kind = Kind::mistakes;
  meaning.mistake = mistake;
  meaning.wrong.clear();
  for (std::size_t t = 0; t < column.names.list().size(); ++t)
    meaning.wrong.push_back(is_wrong(t) ? 1 : 0);
  return meaning;
}

// The decimal mark of the column's texts. Each text alone decides where it can be read in one way.
// Open: texts differ, or nothing decides.
struct Mark {
  DecimalMark mark = DecimalMark::open;
  bool undecided = false;  // and some text may be one number or another
};
Mark mark_of(const Texts& texts, const ColumnContext& context) {
  bool point = context.fractions, comma = false, both = false;
  for (std::size_t t = 0; t < texts.what.size(); ++t) {
    if (texts.what[t] != Texts::What::number) continue;
    const WrittenNumber& n = *texts.number[t];
    const bool with_point = !std::isnan(n.with_point), with_comma = !std::isnan(n.with_comma);
    point |= with_point && !with_comma;
    comma |= with_comma && !with_point;
    both |= with_point && with_comma && n.with_point != n.with_comma;
    // 1.234,5 beside 1.234, which was read as a number with decimals before.
    if (n.points_group && context.fractions) return {DecimalMark::open, true};
  }
  if (context.decimal != DecimalMark::open) {
    const bool contrary = context.decimal == DecimalMark::comma ? point : comma;
    if (both && contrary && !context.decimal_given) return {DecimalMark::open, true};
    return {context.decimal, false};
  }
  if (point != comma) return {point ? DecimalMark::point : DecimalMark::comma, false};
  return {DecimalMark::open, both};
}

double value_with(const WrittenNumber& n, DecimalMark mark) {
  const double first = mark == DecimalMark::comma ? n.with_comma : n.with_point;
  return std::isnan(first) ? (mark == DecimalMark::comma ? n.with_point : n.with_comma) : first;
}

// 1.2 kW beside 1200: the plain numbers seem to be in another unit.
bool is_scaled(const TextColumn& column, const Texts& texts, const ColumnContext& context,
               std::string_view unit, DecimalMark mark) {
  constexpr double kApart = 5;  // a factor of 32
  const bool prefixed =
      unit.size() > 1 && (std::string_view("kMGmnp").find(unit.front()) != unit.npos ||
                          unit.starts_with("µ") || unit.starts_with("μ"));
  if (!prefixed || context.numbers == 0 || !context.known_unit.empty()) return false;
  double sum = 0, cells = 0;
  for (std::size_t t = 0; t < texts.what.size(); ++t) {
    if (texts.what[t] != Texts::What::number || texts.number[t]->unit.empty()) continue;
    const double value = std::abs(value_with(*texts.number[t], mark));
    if (value == 0) continue;
    sum += static_cast<double>(column.count[t]) * std::log2(value);
    cells += static_cast<double>(column.count[t]);
  }
  return cells > 0 && std::abs(sum / cells - context.magnitude) > kApart;
}

// Every text is a number or says that there is none.
ColumnMeaning as_numbers(ColumnMeaning meaning, const TextColumn& column, const Texts& texts,
                         const ColumnContext& context) {
  const auto is_number = [&](std::size_t t) { return texts.what[t] == Texts::What::number; };
  // 12O among numbers is a slip of the pen and no unit.
  const auto is_slip = [&](std::size_t t) {
    return is_number(t) && context.numbers > 0 && !texts.number[t]->unit.empty() &&
           !texts.number[t]->unit_is_certain &&
           !same_unit(texts.number[t]->unit, context.known_unit);
  };
  for (std::size_t t = 0; t < texts.what.size(); ++t)
    if (is_slip(t)) return wrong_texts(meaning, Mistake::no_number, column, is_slip);
  meaning.unit = context.known_unit;
  for (std::size_t t = 0; t < texts.what.size(); ++t) {
    if (!is_number(t)) continue;
    const std::string_view unit = texts.number[t]->unit;
    if (unit.empty() || same_unit(unit, meaning.unit)) continue;
    if (meaning.unit.empty()) {
      meaning.unit = unit;
      continue;
    }
    meaning.other_unit = meaning.unit;
    return wrong_texts(meaning, Mistake::unit, column, [&](std::size_t other) {
      return is_number(other) && !texts.number[other]->unit.empty() &&
             !same_unit(texts.number[other]->unit, meaning.other_unit);
    });
  }
  const Mark mark = mark_of(texts, context);
  // 97 % beside 0.97
  const auto above_one = [&](std::size_t t) {
    return is_number(t) && texts.number[t]->unit == "%" &&
           std::abs(value_with(*texts.number[t], mark.mark)) > 1;
  };
  if (context.numbers > 0 && context.largest <= 1 && context.known_unit.empty())
    for (std::size_t t = 0; t < texts.what.size(); ++t)
      if (above_one(t)) {
        meaning.other_unit = "the numbers beside it";
        return wrong_texts(meaning, Mistake::unit, column, above_one);
      }
  if (is_scaled(column, texts, context, meaning.unit, mark.mark))
    return wrong_texts(std::move(meaning), Mistake::scale, column, [&](std::size_t t) {
      return is_number(t) && !texts.number[t]->unit.empty();
    });
  if (mark.undecided)
    return wrong_texts(std::move(meaning), Mistake::decimals, column, [&](std::size_t t) {
      return is_number(t) && (texts.number[t]->points_group ||
                              (!std::isnan(texts.number[t]->with_comma) &&
                               !std::isnan(texts.number[t]->with_point) &&
                               texts.number[t]->with_point != texts.number[t]->with_comma));
    });
  const std::vector<std::string>& names = column.names.list();
  for (std::size_t t = 0; t < texts.what.size(); ++t) {
    const std::size_t cells = t < column.count.size() ? column.count[t] : 0;
    if (!is_number(t)) {
      const bool declared = context.is_missing_text && context.is_missing_text(names[t]);
      if (!declared) meaning.missing_words += cells, meaning.word_example = names[t];
      meaning.numbers.push_back(kMissing);
      continue;
    }
    const WrittenNumber& n = *texts.number[t];
    meaning.numbers.push_back(value_with(n, mark.mark));
    if (!n.unit.empty()) meaning.with_unit += cells;
    if (n.limit != '\0') meaning.limits += cells, meaning.limit_example = names[t];
    if (n.unit.empty() && n.limit == '\0') {
      const bool comma = names[t].find_first_not_of("0123456789,+-eE") == std::string::npos &&
                         meaning.numbers.back() == n.with_comma &&
                         meaning.numbers.back() != n.with_point;
      (comma ? meaning.commas : meaning.grouped) += cells;
    }
  }
  return meaning;
}

// Two numbers in one cell, as a blood pressure of 120/80.
bool is_pair(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const auto number = [](std::string_view part) {
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    return finite_number(part).has_value();
  };
  return number(text.substr(0, slash)) && number(text.substr(slash + 1));
}

bool is_date(std::string_view text) { return parse_date(text) || has_open_order(text); }

bool is_clock(std::string_view text) {
  DateStyle style;
  return parse_clock(text, style).has_value();
}

template <class Is>
bool all_texts(const TextColumn& column, Is is) {
  const std::vector<std::string>& names = column.names.list();
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return says_missing(name) || is(name); });
}

ColumnMeaning as_categories(ColumnMeaning meaning, const TextColumn& column,
                            const ColumnContext& context) {
  meaning.kind = Kind::categories;
  meaning.rank.assign(column.names.list().size(), -1);
  std::vector<std::int32_t> kept;
  for (std::size_t t = 0; t < meaning.rank.size(); ++t) {
    if (context.is_missing_text && context.is_missing_text(column.names.list()[t])) continue;
    kept.push_back(static_cast<std::int32_t>(t));
    meaning.categories.push_back(column.names.list()[t]);
  }
  std::vector<std::int32_t> rank(kept.size());
  std::iota(rank.begin(), rank.end(), 0);
  sort_names(meaning.categories, rank);
  for (std::size_t k = 0; k < kept.size(); ++k)
    meaning.rank[static_cast<std::size_t>(kept[k])] = rank[k];
  return meaning;
}

ColumnMeaning left_out(ColumnMeaning meaning, ColumnMeaning::LeftOut why) {
  meaning.kind = Kind::left_out;
  meaning.left_out = why;
  return meaning;
}

// Words for true and false alone, or beside 0 and 1: among other numbers "no" is no zero.
bool are_truths(const std::vector<std::string>& names, const ColumnContext& context) {
  return (context.numbers == 0 || (!context.fractions && context.largest <= 1)) &&
         std::all_of(names.begin(), names.end(),
                     [](const auto& name) { return spelled_truth(name).has_value(); });
}

// What the texts are where they are no names of categories; nothing where they are.
std::optional<ColumnMeaning> meaning_of_no_names(ColumnMeaning meaning, const TextColumn& column,
                                                 const ColumnContext& context) {
  const std::vector<std::string>& names = column.names.list();
  if (column.cells == 0) {  // all were taken back
    meaning.numbers.assign(names.size(), kMissing);
    return meaning;
  }
  if (are_truths(names, context)) {
    meaning.truth = true;
    for (const std::string& name : names)
      meaning.numbers.push_back(*spelled_truth(name) ? 1.0 : 0.0);
    return meaning;
  }
  const Texts texts = looked_at(column, context);
  const bool many = names.size() > TextColumn::kMostCategories;
  const bool numbers = context.numbers > 0 || context.known_as_numbers;
  if (texts.others == 0 && (numbers || texts.numbers + texts.declared > 0)) {
    ColumnMeaning read = as_numbers(meaning, column, texts, context);
    // 3A and 4B are names and no amperes.
    const bool names_of_things = read.kind == Kind::mistakes && read.mistake == Mistake::unit &&
                                 !numbers && !many && !texts.certain_unit;
    if (names_of_things) return std::nullopt;
    return read;
  }
  if (texts.others == 0) return std::nullopt;
  if (!numbers && all_texts(column, is_date))
    return left_out(meaning, ColumnMeaning::LeftOut::dates);
  if (!numbers && all_texts(column, is_clock))
    return left_out(meaning, ColumnMeaning::LeftOut::clocks);
  if (all_texts(column, is_pair))
    return wrong_texts(meaning, Mistake::pair, column,
                       [&](std::size_t t) { return !says_missing(names[t]); });
  const bool prose = many && texts.others > context.numbers + texts.numbers;
  const bool mostly_numbers = texts.numbers >= texts.others && (many || texts.certain_unit);
  if (!context.known_as_numbers && (context.numbers == 0 || prose) && !mostly_numbers)
    return std::nullopt;
  meaning.mostly_texts =
      !context.known_as_numbers && !many && texts.others > context.numbers + texts.numbers;
  return wrong_texts(meaning, Mistake::no_number, column,
                     [&](std::size_t t) { return texts.what[t] == Texts::What::other; });
}

}  // namespace

ColumnMeaning meaning_of(const TextColumn& column, const ColumnContext& context) {
  ColumnMeaning meaning;
  const std::vector<std::string>& names = column.names.list();
  meaning.texts = names.size();
  if (column.known) {
    meaning.kind = Kind::categories;
    meaning.categories.assign(names.begin(),
                              names.begin() + static_cast<std::ptrdiff_t>(*column.known));
    meaning.rank.resize(*column.known);
    std::iota(meaning.rank.begin(), meaning.rank.end(), 0);
    return meaning;
  }
  if (!column.all_names)
    if (auto found = meaning_of_no_names(meaning, column, context)) return *std::move(found);
  // Remarks hardly ever repeat.
  constexpr std::size_t kFew = 20;
  const bool remarks = !column.all_names && !context.named && column.cells >= kFew &&
                       2 * names.size() > column.cells;
  const std::size_t most =
      column.all_names ? TextColumn::kMostNamedCategories : TextColumn::kMostCategories;
  if (names.size() > most || remarks)
    return left_out(std::move(meaning), ColumnMeaning::LeftOut::texts);
  return as_categories(std::move(meaning), column, context);
}

}  // namespace edict
