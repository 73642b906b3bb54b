#include "data/read/csv/layout/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/text/utf8.h"
#include "data/read/columns/column_choice.h"
#include "data/read/columns/recognise_columns.h"
#include "data/read/csv/layout/csv_decimals.h"
#include "data/read/csv/layout/csv_header.h"
#include "data/read/csv/layout/csv_sample.h"

namespace edict {
namespace {

struct HeaderNames {
  std::vector<std::string> names;
  const char* repeated = nullptr;  // the cell of a name that is there twice
};

HeaderNames read_names(const CsvText& text, const char*& p, const CsvLimits& limits) {
  const char* header = p;
  HeaderNames result;
  std::string scratch;
  std::unordered_set<std::string> seen;
  for (;; ++p) {
    const CsvCell cell = text.read_cell(p, scratch);
    std::string name(cell.text.substr(0, limits.text));
    if (result.names.size() == limits.columns)
      text.fail(header, fmt::format("more than {} columns; use the long form", limits.columns));
    if (cell.text.size() > limits.text)
      text.fail(cell.at, fmt::format("column {}: its name is longer than {} bytes; shorten it",
                                     result.names.size() + 1, limits.text));
    if (!valid_utf8(cell.text)) throw CsvNotUtf8{};
    const std::string_view source(cell.at, static_cast<std::size_t>(p - cell.at));
    const bool quoted = source.substr(std::min(source.find_first_not_of(" \t"), source.size()))
                            .starts_with('"');  // where anything may be part of a name
    if (!quoted && name.find('\r') != std::string::npos)
      text.fail(cell.at,
                "a carriage return without line feed; save with Unix or Windows line ends");
    if (!name.empty() && !seen.insert(name).second && !result.repeated) result.repeated = cell.at;
    result.names.push_back(std::move(name));
    if (*p != text.separator()) break;
  }
  p = CsvText::next_line(p);
  return result;
}

bool has_any_usual_name(std::string_view name) {
  for (const ColumnRole role : {ColumnRole::id, ColumnRole::time, ColumnRole::period,
                                ColumnRole::clock, ColumnRole::variable, ColumnRole::value})
    if (has_usual_name(name, role)) return true;
  return false;
}

// What a cell measures, if anything: a number, a date or a time of day.
char kind_of(const std::string& cell) {
  if (number_with_comma(cell)) return 'n';
  DateStyle style;
  if (parse_clock(cell, style)) return 'c';
  return is_measured(cell) ? 'd' : '\0';
}

// Whether the names are cells like those below them: numbers over numbers, dates over dates.
bool is_row_of_data(const std::vector<std::string>& names, const CsvSample& sample) {
  std::size_t alike = 0, named = 0;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty()) continue;
    ++named;
    if (has_any_usual_name(names[c])) return false;
    const auto cells = sample[c];
    const char kind = kind_of(names[c]);
    const bool same =
        std::ranges::all_of(cells, [&](const std::string& cell) { return kind_of(cell) == kind; });
    alike += kind != '\0' && same && !cells.empty();
    if (!cells.empty() && !same && (kind != '\0' || std::ranges::all_of(cells, is_measured)))
      return false;
  }
  return alike > 1 || (alike > 0 && alike == named);
}

// Names for the columns of such a table, as an option would give them.
std::string suggested_names(const CsvSample& sample, std::size_t columns) {
  std::vector<std::string> names(columns);
  const auto with = [&](auto is) {
    for (std::size_t c = 0; c < columns; ++c)
      if (names[c].empty() && is(sample[c])) return c;
    return columns;
  };
  if (!all_dates(sample[0])) names[0] = "id";
  std::size_t time = with([](auto cells) { return all_dates(cells); });
  if (time == columns) time = with([](auto cells) { return all_numbers(cells); });
  if (time < columns) names[time] = "time";
  std::size_t values = 0;
  for (std::string& name : names)
    if (name.empty()) name = fmt::format("x{}", ++values);
  return fmt::format("{}", fmt::join(names, ","));
}

bool is_plain(const CsvText& text, const CsvLayout& layout) {
  const auto called = [&](ColumnKind kind, std::string_view usual) {
    const std::string name = layout.name_of(kind);
    return name.empty() || name == usual;
  };
  bool plain = text.separator() == ',' && !layout.one_series && called(ColumnKind::id, "id") &&
               called(ColumnKind::time, "time") && called(ColumnKind::label, "label") &&
               called(ColumnKind::group, "group") && called(ColumnKind::feature_name, "feature") &&
               called(ColumnKind::value, "value") && called(ColumnKind::clock, "") &&
               layout.ignored.empty() && layout.row_index.empty();
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    if (layout.columns[c].kind == ColumnKind::static_covariate)
      plain &= layout.names[c].starts_with(kStaticPrefix);
  return plain;
}

// The names of the columns and where the rows begin, be it in the first line.
void read_header(const CsvText& text, const char* at, const ReadOptions& options,
                 CsvLayout& layout) {
  const char* p = at;
  HeaderNames header = read_names(text, p, options.limits);
  const std::size_t columns = header.names.size();
  layout.rows = p;
  layout.header = {at, static_cast<std::size_t>(p - at)};
  while (!layout.header.empty() && (layout.header.back() == '\n' || layout.header.back() == '\r'))
    layout.header.remove_suffix(1);
  layout.given_names = options.columns;
  if (options.columns.empty() &&
      is_row_of_data(header.names, CsvSample(text, layout.header, p, columns))) {
    if (options.like) layout.given_names = options.like->reading.columns;
    if (layout.given_names.empty())
      text.fail(at, fmt::format("this is a row of data and there is no header; name the columns, "
                                "as with {}",
                                option("columns", suggested_names(CsvSample(text, {}, at, columns),
                                                                  columns))));
  }
  if (layout.given_names.empty()) {
    if (header.repeated) {
      std::string scratch;
      const char* cell = header.repeated;
      text.fail(header.repeated, text.read_cell(cell, scratch).text,
                "the name appears twice; rename or remove one of them");
    }
    layout.names = std::move(header.names);
    return;
  }
  if (layout.given_names.size() != columns)
    text.fail(at, fmt::format("{} columns, and {} names {}", columns, option("columns"),
                              layout.given_names.size()));
  layout.names = layout.given_names;
  layout.header = {};
  layout.rows = at;
}

}  // namespace

bool valid_feature_name(std::string_view name) {
  return !name.empty() && !name.starts_with(kStaticPrefix) && name != "id" && name != "time" &&
         lower(name) != "label" && lower(name) != "group";
}

CsvLayout read_csv_layout(CsvText& text, const ReadOptions& options) {
  const CsvHeader header = find_header(text);
  if (header.at == text.end())
    text.fail(header.at,
              "the file is empty; it needs a header line 'id,time,<feature>,…' and rows");
  CsvLayout layout;
  layout.lines_skipped = header.skipped;
  read_header(text, header.at, options, layout);
  const CsvSample sample(text, layout.header, layout.rows, layout.names.size());
  layout.rows = sample.rows();
  layout.rows_below = sample.rows_below_header();
  try {
    recognise_columns(sample, options, layout);
  } catch (const Error& error) {
    text.fail(header.at, error.message(option));
  }
  recognise_decimals(sample, text.separator() == ',', options, layout);
  layout.plain = is_plain(text, layout);
  return layout;
}

}  // namespace edict
