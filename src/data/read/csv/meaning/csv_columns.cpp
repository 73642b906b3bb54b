#include "data/read/csv/meaning/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "data/read/columns/column_choice.h"
#include "data/read/csv/meaning/csv_mistakes.h"

namespace edict {
namespace {

using Kind = ColumnMeaning::Kind;

std::int64_t exponent_of(double value) {
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - 1023;
}

std::vector<std::string> codes_said(const ReadOptions& options) {
  return options.missing.empty() && options.like ? options.like->reading.missing : options.missing;
}

}  // namespace

bool words_belong(const UnknownWords& words, const std::vector<std::string>& categories) {
  const auto there = [&](std::string_view word) {
    return words.cells[static_cast<std::size_t>(unknown_word(word))] > 0;
  };
  const auto is_sign = [](const std::string& text) {
    return text.find_first_not_of("+-()/ ") == std::string::npos;
  };
  const auto is_degree = [](const std::string& text) {
    const std::string word = lower(text);
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"mild", "moderate", "severe", "low", "medium",
                                                "high", "slight", "light", "heavy", "minor",
                                                "major", "some", "partial", "full", "complete",
                                                "minimal", "few", "many", "a little"},
        [&](std::string_view degree) { return word == degree; });
  };
  return ((there("-") || there("--")) && std::ranges::all_of(categories, is_sign)) ||
         (there("None") && std::ranges::any_of(categories, is_degree));
}

void CsvColumns::Stock::add(double value) {
  ++numbers;
  fractions |= value != std::floor(value);
  largest = std::max(largest, std::abs(value));
  if (value != 0) {
    exponents += exponent_of(value);
    ++not_zero;
  }
  extremes.add(value);
}

CsvColumns::CsvColumns(const CsvLayout& layout, const ReadOptions& options, CsvTable& table,
                       CsvProblems& problems)
    : layout_(layout),
      options_(options),
      table_(table),
      problems_(problems),
      missing_(codes_said(options)),
      codes_(missing_) {}

void CsvColumns::take_stock(EventRows& rows) {
  for (std::size_t o = 0; o < rows.value.size(); ++o) {
    const auto f = static_cast<std::size_t>(rows.feature[o]);
    double& value = rows.value[o];
    if (std::isnan(value)) continue;
    if (f >= stock_.size()) add_stock(f);
    Stock& stock = stock_[f];
    if (!stock.said.empty() &&
        std::find(stock.said.begin(), stock.said.end(), value) != stock.said.end()) {
      note_code(value, f);
      value = kMissing;
      some_missing_ = true;
      continue;
    }
    stock.add(value);
  }
}

void CsvColumns::add_stock(std::size_t feature) {
  const std::vector<std::string>& names =
      layout_.long_form ? table_.features.list() : layout_.features;
  for (std::size_t f = stock_.size(); f <= feature; ++f)
    stock_.emplace_back().said = codes_.numbers(names[f]);
}

void CsvColumns::note_code(double value, std::size_t feature) {
  const std::string& name =
      (layout_.long_form ? table_.features.list() : layout_.features)[feature];
  for (auto& code : codes_found_)
    if (code.value == value && code.column == name) {
      ++code.cells;
      return;
    }
  codes_found_.push_back({value, name, 1, false});
}

bool CsvColumns::known_as_numbers(const std::string& name, bool is_static) const {
  if (!options_.like) return false;
  const Reading& reading = options_.like->reading;
  return contains(is_static ? reading.statics : reading.features, name);
}

ColumnContext CsvColumns::context_of(const std::string& name, bool is_static) const {
  ColumnContext context;
  context.known_as_numbers = known_as_numbers(name, is_static);
  context.named = contains(layout_.named, name);
  if (options_.like) context.known_unit = options_.like->reading.unit_of(name);
  context.decimal = layout_.decimal;
  context.decimal_given = !options_.decimal.empty();
  context.is_missing_text = [this, name](std::string_view text) {
    return codes_.matches_text(name, text);
  };
  return context;
}

CsvColumns::Meanings CsvColumns::meanings(const std::vector<std::string>& features) {
  Meanings result;
  table_.texts.resize(features.size());
  table_.words.resize(features.size());
  stock_.resize(features.size());
  for (std::size_t f = 0; f < features.size(); ++f)
    result.features.push_back(table_.texts[f] ? meaning_of_feature(features[f], f)
                                              : ColumnMeaning());
  find_sentinels(features);
  leave_out_empty(features, result.features);
  result.statics = meanings_of_statics();
  keep_words(features, result);
  return result;
}

ColumnMeaning CsvColumns::meaning_of_feature(const std::string& name, std::size_t feature) {
  Stock& stock = stock_[feature];
  const TextColumn& texts = *table_.texts[feature];
  ColumnContext context = context_of(name, false);
  context.numbers = stock.numbers;
  // Where points may group digits, no number with a point was counted yet.
  context.largest = stock.largest;
  context.fractions = stock.fractions && !layout_.points_group;
  if (stock.not_zero > 0)
    context.magnitude =
        0.5 + static_cast<double>(stock.exponents) / static_cast<double>(stock.not_zero);
  ColumnMeaning meaning = meaning_of(texts, context);
  const std::string column = layout_.long_form ? layout_.name_of(ColumnKind::value) : name;
  const bool is_needed = layout_.long_form || layout_.features.size() == 1;
  if (meaning.kind == Kind::mistakes) note_mistakes(texts, meaning, column, is_needed, problems_);
  if (meaning.kind == Kind::left_out && context.named) refuse_left_out(texts, meaning, name);
  for (const double number : meaning.numbers) {
    if (meaning.truth || std::isnan(number)) continue;
    stock.extremes.add(number);
    ++stock.numbers;
  }
  return meaning;
}

// What an option names is not left out with a note.
void CsvColumns::refuse_left_out(const TextColumn& texts, const ColumnMeaning& meaning,
                                 const std::string& column) {
  using LeftOut = ColumnMeaning::LeftOut;
  std::string what;
  if (meaning.left_out == LeftOut::dates) what = "it holds dates, which are no values";
  if (meaning.left_out == LeftOut::clocks) what = "it holds times of day, which are no values";
  std::string remedy = "leave it out with " + option("ignore", column);
  if (what.empty()) {
    what = fmt::format("it holds {} different texts", meaning.texts);
    if (!texts.all_names && meaning.texts <= TextColumn::kMostNamedCategories)
      remedy = option("category", column) + " makes each of them a category";
  }
  problems_.add(CsvProblem::number, texts.at.empty() ? nullptr : texts.at.front(), column,
                what + "; " + remedy);
}

// Numbers that stand for "missing" and were not said to.
void CsvColumns::find_sentinels(const std::vector<std::string>& features) {
  if (!codes_.recognise()) return;
  for (std::size_t f = 0; f < features.size(); ++f)
    for (const Extremes::Sentinel& found : stock_[f].extremes.sentinels()) {
      stock_[f].codes.push_back(found.value);
      stock_[f].numbers -= std::min(stock_[f].numbers, found.cells);
      sentinels_.push_back(fmt::format("{}={}", features[f], found.value));
      codes_found_.push_back({found.value, features[f], found.cells, true});
    }
}

// Columns without any value, where others have some.
void CsvColumns::leave_out_empty(const std::vector<std::string>& features,
                                 std::vector<ColumnMeaning>& meanings) const {
  const auto is_empty = [&](std::size_t f) {
    return stock_[f].numbers == 0 && meanings[f].kind == Kind::number && !meanings[f].truth;
  };
  const auto is_wanted = [&](std::size_t f) {
    return contains(layout_.named, features[f]) || known_as_numbers(features[f], false);
  };
  std::size_t left = 0;
  for (std::size_t f = 0; f < meanings.size(); ++f)
    left += !is_empty(f) && meanings[f].kind != Kind::left_out;
  if (left == 0) return;
  for (std::size_t f = 0; f < meanings.size(); ++f)
    if (is_empty(f) && !is_wanted(f)) {
      meanings[f].kind = Kind::left_out;
      meanings[f].left_out = ColumnMeaning::LeftOut::empty;
    }
}

void CsvColumns::keep_words(const std::vector<std::string>& features,
                            const Meanings& meanings) const {
  CsvKeptWords kept;
  const auto look_at = [&](const std::string& column, const TextColumn* texts,
                           const ColumnMeaning& meaning, const UnknownWords& words) {
    if (texts && !texts->keeps_words && !texts->known && meaning.kind == Kind::categories &&
        words_belong(words, meaning.categories))
      kept.columns.push_back(column);
  };
  for (std::size_t f = 0; f < features.size(); ++f)
    look_at(features[f], table_.texts[f].get(), meanings.features[f], table_.words[f]);
  for (std::size_t s = 0; s < meanings.statics.size(); ++s)
    if (s < table_.static_words.size())
      look_at(layout_.static_column(s), table_.static_texts[s].get(), meanings.statics[s],
              table_.static_words[s]);
  if (!kept.columns.empty()) throw CsvKeptWords(std::move(kept));
}

void CsvColumns::settle(EventRows& rows, const Meanings& meanings) {
  bool any = false;
  for (std::size_t f = 0; f < meanings.features.size(); ++f)
    any |= !meanings.features[f].numbers.empty() || !stock_[f].codes.empty();
  if (!any) return;
  for (std::size_t o = 0; o < rows.value.size(); ++o) {
    const auto f = static_cast<std::size_t>(rows.feature[o]);
    const std::vector<double>& codes = stock_[f].codes;
    double& value = rows.value[o];
    value = as_number(value, meanings.features[f]);
    if (!codes.empty() && std::find(codes.begin(), codes.end(), value) != codes.end())
      value = kMissing;
    some_missing_ |= is_missing(value);
  }
}

std::vector<ColumnMeaning> CsvColumns::meanings_of_statics() {
  const std::size_t statics = layout_.statics.size();
  std::vector<ColumnMeaning> meanings(statics);
  for (std::size_t s = 0; s < statics; ++s) {
    const std::string column = layout_.static_column(s);
    const std::vector<double> codes = codes_.numbers(column);
    std::size_t numbers = 0;
    bool fractions = false;
    double largest = 0;
    for (std::size_t k = s; k < table_.static_values.size(); k += statics) {
      double& value = table_.static_values[k];
      if (std::find(codes.begin(), codes.end(), value) != codes.end()) value = kMissing;
      numbers += !std::isnan(value);
      fractions |= !std::isnan(value) && value != std::floor(value);
      largest = std::fmax(largest, std::abs(value));
    }
    if (!table_.static_texts[s]) continue;
    ColumnContext context = context_of(column, true);
    context.known_as_numbers &= numbers > 0;
    context.numbers = numbers;
    context.largest = largest;
    context.fractions = fractions;
    meanings[s] = meaning_of(*table_.static_texts[s], context);
    if (meanings[s].kind == Kind::mistakes)
      note_mistakes(*table_.static_texts[s], meanings[s], column, false, problems_);
    if (meanings[s].kind == Kind::left_out && context.named)
      refuse_left_out(*table_.static_texts[s], meanings[s], column);
    for (std::size_t k = s; k < table_.static_values.size(); k += statics)
      table_.static_values[k] = as_number(table_.static_values[k], meanings[s]);
  }
  return meanings;
}

std::vector<std::string> CsvColumns::missing() const {
  std::vector<std::string> missing = missing_;
  for (const std::string& code : sentinels_)
    if (!contains(missing, code)) missing.push_back(code);
  return missing;
}

}  // namespace edict
