#include "edict/sources/csv_recognised.h"

#include <fmt/format.h>

#include <algorithm>

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

void say_duplicates(const RecognisedTable& table, const std::string& duplicates, Lines& lines) {
  if (table.merged.joined > 0)
    lines.push_back(
        fmt::format("{} observations were given twice with different values: the {} is taken",
                    table.merged.joined, duplicates));
  if (table.merged.same > 0)
    lines.push_back(
        fmt::format("{} observations were given twice and are taken once", table.merged.same));
}

void say_left_out(const RecognisedTable& table, Lines& lines) {
  for (const auto& texts : table.texts)
    if (texts.meaning->kind == ColumnMeaning::Kind::left_out)
      lines.push_back(
          fmt::format("'{}' is left out: {} different texts", texts.column, texts.meaning->texts));
}

}  // namespace

std::vector<std::string> recognised(const RecognisedTable& table, const Dataset& data) {
  const CsvLayout& layout = table.layout;
  Lines lines, parts;
  if (table.options.like) {
    Lines ignored;
    for (const std::string& name : layout.ignored)
      if (!name.empty()) ignored.push_back(name);
    if (!ignored.empty())
      lines.push_back(
          fmt::format("ignored, as the model does not know them: {}", quoted_list(ignored)));
    for (const auto& texts : table.texts)
      if (texts.unknown > 0)
        lines.push_back(
            fmt::format("{} cells of '{}' hold a category that the model does not know "
                        "and count as missing",
                        texts.unknown, texts.column));
    say_left_out(table, lines);
    say_duplicates(table, data.reading.duplicates, lines);
    return lines;
  }

  // How it is written.
  for (const std::string& conversion : table.text.conversions()) parts.push_back(conversion);
  if (table.text.separator() != ',')
    parts.push_back("separated by " + name_of_separator(table.text.separator()));
  if (table.decimal_comma) parts.emplace_back("decimal comma");
  // Which column is what.
  const bool calendar = data.time_axis.is_calendar();
  if (!layout.plain || calendar) {
    if (layout.one_series)
      parts.emplace_back("one series");
    else
      parts.push_back(fmt::format("id is '{}'", layout.name_of(CsvColumn::id)));
    parts.push_back(fmt::format("time is '{}' ({})", layout.name_of(CsvColumn::time),
                                described(data.time_axis)));
    for (const auto& [kind, what] :
         {std::pair(CsvColumn::label, "label"), std::pair(CsvColumn::group, "group"),
          std::pair(CsvColumn::feature_name, "feature"), std::pair(CsvColumn::value, "value")})
      if (const std::string name = layout.name_of(kind); !name.empty() && name != what)
        parts.push_back(fmt::format("{} is '{}'", what, name));
  }
  if (!parts.empty()) lines.push_back(fmt::format("{}", fmt::join(parts, ", ")));

  // What became of columns that are not plain numbers.
  parts.clear();
  for (const auto& texts : table.texts) {
    if (texts.meaning->kind == ColumnMeaning::Kind::categories)
      parts.push_back(fmt::format("'{}' has {} categories ({}{})", texts.column,
                                  texts.meaning->categories.size(),
                                  fmt::join(texts.meaning->categories.begin(),
                                            texts.meaning->categories.begin() +
                                                static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                    4, texts.meaning->categories.size())),
                                            ", "),
                                  texts.meaning->categories.size() > 4 ? ", …" : ""));
    else if (texts.meaning->truth)
      parts.push_back(fmt::format("'{}' is 1 for yes and 0 for no", texts.column));
  }
  say_left_out(table, parts);
  Lines ignored;
  for (const std::string& name : layout.ignored)
    if (!name.empty()) ignored.push_back(name);
  if (!ignored.empty() && table.options.features.empty())
    parts.push_back(fmt::format("ignored: {}", quoted_list(ignored)));
  if (ignored.size() < layout.ignored.size())
    parts.emplace_back("a column without a name is ignored");
  say_duplicates(table, data.reading.duplicates, parts);
  if (!layout.plain && !layout.long_form)
    if (const Lines constant = constant_features(data); !constant.empty())
      parts.push_back(
          fmt::format("constant within every series, yet taken as features: {} (--static "
                      "or --label may say otherwise)",
                      quoted_list(constant)));
  if (!parts.empty()) lines.push_back(fmt::format("{}", fmt::join(parts, "; ")));
  return lines;
}

}  // namespace edict
