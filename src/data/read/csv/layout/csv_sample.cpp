#include "data/read/csv/layout/csv_sample.h"

#include <algorithm>
#include <utility>

#include "data/read/csv/csv_names.h"
#include "data/read/csv/layout/csv_header.h"

namespace edict {
namespace {

// As a row of units has it: [°C], %, mmol/L, yyyy-mm-dd.
bool may_be_unit(const std::string& cell) {
  if (cell.size() > 24 || cell.front() == '[' || cell.front() == '(') return cell.size() <= 24;
  for (const std::string_view part : {"%", "°", "µ", "μ", "²", "³", "/"})
    if (cell.find(part) != std::string::npos) return true;
  if (cell.find_first_not_of("yYmMdDhHsS -:.") == std::string::npos) return true;
  for (const std::string_view unit :
       {"s",   "sec", "min", "h",    "ms",   "V",     "mV",   "kV",  "A",     "mA",    "W",   "kW",
        "MW",  "kWh", "J",   "kJ",   "bar",  "mbar",  "Pa",   "hPa", "kPa",   "MPa",   "psi", "mm",
        "cm",  "m",   "km",  "g",    "kg",   "t",     "mg",   "l",   "L",     "Hz",    "kHz", "rpm",
        "K",   "C",   "F",   "degC", "degF", "bpm",   "mmHg", "ppm", "ppb",   "Nm",    "N",   "deg",
        "lux", "dB",  "pH",  "text", "unit", "units", "TS",   "RN",  "Volts", "Deg C", "Smp", "Avg",
        "Min", "Max", "Tot", "Std",  "UTC",  "local", "Local"})
    if (cell == unit) return true;
  return false;
}

// A row below the header that holds no data: units, or what a logger did, as Smp and Avg. Below it
// columns hold numbers and dates, and it holds words in their place.
bool tells_of_columns(const std::vector<std::string>& row, const std::vector<std::string>& below) {
  std::size_t words = 0, units = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (spells_unknown(row[c])) continue;
    if (is_measured(row[c])) return false;
    const bool over_numbers = is_measured(below[c]);
    words += over_numbers;
    if (may_be_unit(row[c]))
      units += over_numbers;
    else if (!over_numbers)
      return false;
  }
  return units > 0 ? units == words || words > 1 : words > 1;
}

}  // namespace

CsvSample::CsvSample(const CsvText& text, std::string_view header, const char* rows,
                     std::size_t columns)
    : text_(text), header_(header), rows_(rows), cells_(columns) {
  leave_out_units();
  constexpr std::size_t kRows = 200, kCells = 40000;
  const std::size_t most = std::min(kRows, std::max<std::size_t>(5, kCells / columns));
  const char* p = rows_;
  for (std::size_t row = 0; row < most && p != text_.end(); ++row)
    if (!read_row(p, [&](std::size_t c, std::string_view cell) {
          if (!spells_unknown(cell)) cells_[c].emplace_back(cell);
        }))
      break;
}

// The first rows that are whole, and where each begins.
std::vector<std::vector<std::string>> CsvSample::first_rows(
    std::size_t most, std::vector<const char*>& places) const {
  std::vector<std::vector<std::string>> rows;
  for (const char* p = rows_; rows.size() < most && p != text_.end();) {
    places.push_back(p);
    rows.emplace_back(cells_.size());
    if (!read_row(p, [&](std::size_t c, std::string_view cell) { rows.back()[c] = cell; })) {
      rows.pop_back();
      break;
    }
  }
  return rows;
}

void CsvSample::leave_out_units() {
  constexpr std::size_t kMost = 3;
  std::vector<const char*> places;
  const auto rows = first_rows(kMost + 2, places);
  for (std::size_t last = std::min(kMost, rows.size()); last > 0; --last) {
    // The row below has the data, or the one below that where a cell of it is missing.
    const auto tells = [&](std::size_t r) {
      return tells_of_columns(rows[r], rows[last]) ||
             (last + 1 < rows.size() && tells_of_columns(rows[r], rows[last + 1]));
    };
    if (last >= rows.size()) continue;
    bool all = true;
    for (std::size_t r = 0; r < last; ++r) all &= tells(r);
    if (!all) continue;
    rows_below_header_ = last;
    rows_ = places[last];
    return;
  }
}

template <class Visit>
bool CsvSample::read_row(const char*& p, Visit visit) const try {
  if (text_.repeats_line(p, header_)) {
    p = CsvText::next_line(p + header_.size());
    return true;
  }
  std::string scratch;
  for (std::size_t c = 0;; ++c, ++p) {
    const CsvCell cell = text_.read_cell(p, scratch);
    if (c < cells_.size()) visit(c, cell.text);
    if (*p != text_.separator()) break;
  }
  if (*p == '\0' && p != text_.end()) return false;
  p = CsvText::next_line(p);
  return true;
} catch (const CsvQuoteError&) {
  return false;
}

void CsvSample::visit_rows(
    const std::function<bool(std::span<const std::string> cells)>& visit) const {
  std::vector<std::string> cells(cells_.size());
  for (const char* p = rows_; p != text_.end();) {
    for (std::string& cell : cells) cell.clear();
    if (!read_row(p, [&](std::size_t c, std::string_view cell) { cells[c] = cell; }) ||
        !visit(cells))
      return;
  }
}

std::optional<std::string> CsvSample::find(std::size_t column,
                                           const std::function<bool(std::string_view)>& is) const {
  std::optional<std::string> found;
  for (const char* p = rows_; p != text_.end() && !found;)
    if (!read_row(p, [&](std::size_t c, std::string_view cell) {
          if (c == column && !found && !spells_unknown(cell) && is(cell)) found = cell;
        }))
      break;
  return found;
}

}  // namespace edict
