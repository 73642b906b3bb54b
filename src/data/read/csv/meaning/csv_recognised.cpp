#include "data/read/csv/meaning/csv_recognised.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/utf8.h"
#include "data/read/cells/written_number.h"

namespace edict {
namespace {

using Lines = std::vector<std::string>;

std::string name_of_separator(char separator) {
  return separator == '\t' ? "tabs" : fmt::format("'{}'", separator);
}

// Features that never change within any series, of those that change between them.
Lines constant_features(const Dataset& data) {
  std::vector<bool> constant(data.features.size(), true);
  std::vector<std::size_t> repeated(data.features.size(), 0);
  std::vector<double> first(data.features.size());
  std::vector<std::size_t> series_of_first(data.features.size(), data.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e)
      for (const Observation& o : data.observed(e)) {
        const auto f = static_cast<std::size_t>(o.feature);
        if (series_of_first[f] != i) {
          series_of_first[f] = i;
          first[f] = o.value;
        } else {
          ++repeated[f];
          if (o.value != first[f]) constant[f] = false;
        }
      }
  Lines names;
  for (std::size_t f = 0; f < data.features.size(); ++f)
    if (constant[f] && repeated[f] > 0) names.push_back(data.features[f]);
  return names;
}

// Some texts of a column, on one line.
std::string some_of(const Lines& texts) {
  constexpr std::size_t kShown = 4;
  Lines shown;
  for (std::size_t k = 0; k < std::min(kShown, texts.size()); ++k) {
    shown.push_back(shortened(texts[k], 40));
    std::ranges::replace_if(
        shown.back(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  }
  return fmt::format("{}{}", fmt::join(shown, ", "), texts.size() > kShown ? ", …" : "");
}

std::string cells(std::size_t count) {
  return fmt::format("{} cell{}", count, count == 1 ? "" : "s");
}

void say_duplicates(const RecognisedTable& table, const Dataset& data, Lines& lines) {
  const std::size_t joined = table.merged.joined, same = table.merged.same;
  if (joined > 0) {
    const std::string& how = data.reading.duplicates;
    std::string line =
        fmt::format("{} observation{} given twice with different values: the {} is taken", joined,
                    joined == 1 ? " was" : "s were", how);
    if (table.options.duplicates.empty() && !table.options.like)
      line += fmt::format(
          " (as {}; {}, last or error{})", table.first_joined, option("duplicates", "first"),
          10 * joined > data.observations() ? "; they are many: are id and time the right columns?"
                                            : "");
    lines.push_back(line);
  }
  if (same > 0)
    lines.push_back(fmt::format("{} observation{} given twice and {} taken once", same,
                                same == 1 ? " was" : "s were", same == 1 ? "is" : "are"));
}

void say_left_out(const RecognisedTable& table, Lines& lines) {
  using LeftOut = ColumnMeaning::LeftOut;
  Lines empty;
  for (const auto& texts : table.texts) {
    if (texts.meaning->kind != ColumnMeaning::Kind::left_out) continue;
    switch (texts.meaning->left_out) {
      case LeftOut::texts:
        lines.push_back(fmt::format("'{}' is left out: {} different texts", texts.column,
                                    texts.meaning->texts));
        break;
      case LeftOut::dates:
        lines.push_back(fmt::format("'{}' is left out: it holds dates", texts.column));
        break;
      case LeftOut::clocks:
        lines.push_back(fmt::format("'{}' is left out: it holds times of day", texts.column));
        break;
      case LeftOut::empty:
        empty.push_back(texts.column);
    }
  }
  if (!empty.empty()) lines.push_back(fmt::format("empty and left out: {}", quoted_list(empty)));
}

// Cells that hold more than a number, or a word where there is none.
void say_numbers(const RecognisedTable& table, Lines& lines) {
  for (const auto& texts : table.texts) {
    const ColumnMeaning& m = *texts.meaning;
    if (m.kind != ColumnMeaning::Kind::number || m.truth) continue;
    const bool known =
        table.options.like && table.options.like->reading.unit_of(texts.column) == m.unit;
    Lines parts;
    if (m.with_unit > 0 && !known)
      parts.push_back(fmt::format("'{}' taken off {}", m.unit, cells(m.with_unit)));
    if (m.limits > 0)
      parts.push_back(
          fmt::format("{} as '{}' read as the limit", cells(m.limits), m.limit_example));
    if (m.grouped > 0 && !table.options.like)
      parts.push_back(fmt::format("{} with marks between digits", cells(m.grouped)));
    if (m.commas > 0 && !table.options.like)
      parts.push_back(fmt::format("{} with a decimal comma", cells(m.commas)));
    if (m.missing_words > 0)
      parts.push_back(
          fmt::format("{} as '{}' count as missing", cells(m.missing_words), m.word_example));
    if (!parts.empty())
      lines.push_back(fmt::format("'{}': {}", texts.column, fmt::join(parts, ", ")));
  }
}

// Words for "missing" in a column where they might be names themselves.
void say_words(const RecognisedTable& table, Lines& lines) {
  const auto say = [&](const std::string& column, const std::string& name,
                       const UnknownWords& words, const char* what) {
    Lines parts;
    for (std::size_t w = 1; w < words.cells.size(); ++w)
      if (words.cells[w] > 0)
        parts.push_back(fmt::format("{} as '{}'", cells(words.cells[w]), kUnknownWords[w]));
    if (!parts.empty())
      lines.push_back(fmt::format("'{}': {} count as {} ({} keeps them)", name,
                                  fmt::join(parts, ", "), what, option("category", column)));
  };
  for (std::size_t k = 0; k < table.texts.size(); ++k) {
    const auto& texts = table.texts[k];
    if (texts.meaning->kind != ColumnMeaning::Kind::categories) continue;
    const bool is_static = k + table.layout.statics.size() >= table.texts.size();
    const std::size_t s = k + table.layout.statics.size() - table.texts.size();
    say(is_static ? table.layout.static_column(s) : texts.column, texts.column, texts.words,
        "missing");
  }
  const std::string label = table.layout.name_of(ColumnKind::label),
                    group = table.layout.name_of(ColumnKind::group);
  say(label, label, table.table.label_words, "unknown");
  say(group, group, table.table.group_words, "unknown");
}

// One part for each number that stands for "missing".
void say_codes(const RecognisedTable& table, Lines& lines) {
  std::vector<double> said;
  for (const auto& code : table.codes) {
    if (std::find(said.begin(), said.end(), code.value) != said.end()) continue;
    said.push_back(code.value);
    constexpr std::size_t kShown = 12;
    Lines columns;
    std::size_t more = 0;
    bool guessed = false;
    for (const auto& other : table.codes) {
      if (other.value != code.value) continue;
      // What a model knows was said when it was trained.
      if (table.options.like && table.options.missing.empty() && !other.guessed) continue;
      guessed |= other.guessed;
      if (columns.size() < kShown)
        columns.push_back(fmt::format("'{}' ({})", other.column, cells(other.cells)));
      else
        ++more;
    }
    if (columns.empty()) continue;
    lines.push_back(
        fmt::format("{} counts as missing: {}{}{}", code.value, fmt::join(columns, ", "),
                    more > 0 ? fmt::format(" and {} more columns", more) : "",
                    guessed ? fmt::format(" ({} keeps it)", option("missing", "none")) : ""));
  }
}

void say_rows(const RecognisedTable& table, Lines& lines) {
  const auto rows = [](std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  const CsvLayout& layout = table.layout;
  if (layout.lines_skipped > 0)
    lines.push_back(rows(layout.lines_skipped, "line") + " before the header left out");
  if (layout.rows_below == 1) lines.emplace_back("the units below the header left out");
  if (layout.rows_below > 1)
    lines.push_back(rows(layout.rows_below, "row") + " below the header left out");
  if (table.table.repeated_headers > 0)
    lines.push_back(rows(table.table.repeated_headers, "row") + " with the header again left out");
  if (table.table.rows_before_times > 0)
    lines.push_back(rows(table.table.rows_before_times, "row") + " before the first time left out");
  if (!layout.row_index.empty())
    lines.push_back(
        fmt::format("left out, as it counts the rows: {}", quoted_list(layout.row_index)));
}

// 1.696, which nothing in the table decides.
std::string say_open_decimal(const CsvLayout& layout) {
  const auto number = read_written_number(layout.open_decimal);
  const bool comma = layout.decimal == DecimalMark::comma;
  return fmt::format("'{}' is {}, as nothing decides it ({} makes it {})", layout.open_decimal,
                     comma ? number->with_comma : number->with_point,
                     option("decimal", comma ? "point" : "comma"),
                     comma ? number->with_point : number->with_comma);
}

Lines named_and_ignored(const CsvLayout& layout) {
  Lines names;
  for (const std::string& name : layout.ignored)
    if (!name.empty()) names.push_back(name);
  return names;
}

// What a model does not know already.
Lines differences(const RecognisedTable& table, const Dataset& data) {
  const CsvLayout& layout = table.layout;
  Lines lines;
  if (const Lines ignored = named_and_ignored(layout); !ignored.empty())
    lines.push_back(
        fmt::format("ignored, as the model does not know them: {}", quoted_list(ignored)));
  for (const auto& texts : table.texts)
    if (texts.texts && texts.texts->unknown > 0)
      lines.push_back(
          fmt::format("{} cells of '{}' hold a category that the model does not know "
                      "and count as missing",
                      texts.texts->unknown, texts.column));
  if (layout.time_unit != TimeUnit::none)
    lines.push_back(
        fmt::format("'{}' is in {} and the model counts in {}: times are converted; times to "
                    "predict at are in {}",
                    layout.name_of(ColumnKind::time), long_name_of(layout.time_unit),
                    long_name_of(data.time_axis.unit), long_name_of(data.time_axis.unit)));
  say_numbers(table, lines);
  say_codes(table, lines);
  say_left_out(table, lines);
  say_duplicates(table, data, lines);
  return lines;
}

// How the file is written.
void say_form(const RecognisedTable& table, Lines& parts) {
  const CsvLayout& layout = table.layout;
  for (const std::string& conversion : table.text.conversions()) parts.push_back(conversion);
  if (table.text.separator() != ',')
    parts.push_back("separated by " + name_of_separator(table.text.separator()));
  if (table.table.comma_used) parts.emplace_back("decimal comma");
  if (!layout.open_decimal.empty() && table.text.separator() == ';')
    parts.push_back(say_open_decimal(layout));
  if (!layout.given_names.empty()) parts.emplace_back("no header");
}

// Which column is what.
void say_columns(const RecognisedTable& table, const Dataset& data, Lines& parts) {
  const CsvLayout& layout = table.layout;
  const bool calendar = data.time_axis.is_calendar();
  if (!layout.plain || calendar) {
    if (layout.one_series)
      parts.emplace_back("one series");
    else
      parts.push_back(fmt::format("id is '{}'", layout.name_of(ColumnKind::id)));
    const std::string clock = layout.name_of(ColumnKind::clock);
    parts.push_back(fmt::format(
        "time is '{}'{} ({})", layout.name_of(ColumnKind::time),
        clock.empty() ? "" : fmt::format(" with '{}'{}", clock, described(layout.clock)),
        described(data.time_axis)));
    for (const auto& [kind, what] :
         {std::pair(ColumnKind::label, "label"), std::pair(ColumnKind::group, "group"),
          std::pair(ColumnKind::feature_name, "feature"), std::pair(ColumnKind::value, "value"),
          std::pair(ColumnKind::unit, "unit")})
      if (const std::string name = layout.name_of(kind); !name.empty() && name != what)
        parts.push_back(fmt::format("{} is '{}'", what, name));
  }
}

// What became of columns that are not plain numbers.
void say_meanings(const RecognisedTable& table, const Dataset& data, Lines& parts) {
  const CsvLayout& layout = table.layout;
  say_rows(table, parts);
  for (const auto& texts : table.texts) {
    if (texts.meaning->kind == ColumnMeaning::Kind::categories)
      parts.push_back(fmt::format(
          "'{}' has {} categor{} ({})", texts.column, texts.meaning->categories.size(),
          texts.meaning->categories.size() == 1 ? "y" : "ies", some_of(texts.meaning->categories)));
    else if (texts.meaning->truth)
      parts.push_back(fmt::format("'{}' is 1 for yes and 0 for no", texts.column));
  }
  say_words(table, parts);
  say_numbers(table, parts);
  say_codes(table, parts);
  say_left_out(table, parts);
  const Lines ignored = named_and_ignored(layout);
  if (!ignored.empty() && table.options.features.empty())
    parts.push_back(fmt::format("ignored: {}", quoted_list(ignored)));
  if (ignored.size() < layout.ignored.size())
    parts.emplace_back("a column without a name is ignored");
  say_duplicates(table, data, parts);
  if (!layout.plain && !layout.long_form)
    if (const Lines constant = constant_features(data); !constant.empty())
      parts.push_back(
          fmt::format("constant within every series, yet taken as features: {} ({} "
                      "or {} may say otherwise)",
                      quoted_list(constant), option("static"), option("label")));
}

}  // namespace

std::vector<std::string> recognised(const RecognisedTable& table, const Dataset& data) {
  if (table.options.like) return differences(table, data);
  Lines lines, form, meanings;
  say_form(table, form);
  say_columns(table, data, form);
  if (!form.empty()) lines.push_back(fmt::format("{}", fmt::join(form, ", ")));
  say_meanings(table, data, meanings);
  if (!meanings.empty()) lines.push_back(fmt::format("{}", fmt::join(meanings, "; ")));
  return lines;
}

}  // namespace edict
