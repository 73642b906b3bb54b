#include "data/read/csv/csv_original.h"

#include <cstddef>
#include <utility>

#include "data/read/csv/csv_problems.h"

namespace edict {
namespace {

void read(CsvOriginal& table, const ReadOptions& options) {
  table.layout = read_csv_layout(table.text, options);
  CsvProblems problems(table.text);
  const auto rows = csv_rows(table.text, table.layout, options, problems);
  rows->list_places(table.rows);
  rows->keep_within(std::size_t{1} << 26,
                    [&] { rows->table.rows.clear(); });  // values are read elsewhere
  rows->read_all();
  problems.report();
  table.ids = std::move(rows->table.ids.list());
  table.decimal_comma = rows->table.comma_used;
}

}  // namespace

std::string_view CsvOriginal::header() const {
  std::string_view line(text.begin(), static_cast<std::size_t>(layout.rows - text.begin()));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

CsvOriginal read_csv_original(CsvText text, const ReadOptions& options) {
  CsvOriginal table{std::move(text), {}, {}, {}};
  try {
    read(table, options);
  } catch (const CsvNotUtf8&) {
    table.text.read_as_windows_1252();
    table.rows.clear();
    read(table, options);
  }
  return table;
}

}  // namespace edict
