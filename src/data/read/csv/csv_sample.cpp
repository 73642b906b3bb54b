#include "data/read/csv/csv_sample.h"

#include <algorithm>
#include <utility>

#include "data/read/csv/csv_header.h"
#include "data/read/csv/csv_names.h"

namespace edict {
namespace {

// As a row of units has it: [°C], %, mmol/L, yyyy-mm-dd.
bool may_be_unit(const std::string& cell) {
  if (cell.size() > 24 || cell.front() == '[' || cell.front() == '(') return cell.size() <= 24;
  for (const std::string_view part : {"%", "°", "µ", "μ", "²", "³", "/"})
    if (cell.find(part) != std::string::npos) return true;
  if (cell.find_first_not_of("yYmMdDhHsS -:.") == std::string::npos) return true;
  for (const std::string_view unit :
       {"s",   "sec", "min", "h",   "ms",  "V",   "mV",   "kV",   "A",    "mA",   "W",
        "kW",  "MW",  "kWh", "J",   "kJ",  "bar", "mbar", "Pa",   "hPa",  "kPa",  "MPa",
        "psi", "mm",  "cm",  "m",   "km",  "g",   "kg",   "t",    "mg",   "l",    "L",
        "Hz",  "kHz", "rpm", "K",   "C",   "F",   "degC", "degF", "bpm",  "mmHg", "ppm",
        "ppb", "Nm",  "N",   "deg", "lux", "dB",  "pH",   "text", "unit", "units"})
    if (cell == unit) return true;
  return false;
}

bool may_be_units(const std::vector<std::string>& row, const std::vector<std::string>& below) {
  std::size_t units = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (spells_unknown(row[c])) continue;
    if (!may_be_unit(row[c])) return false;
    units += is_measured(below[c]);
  }
  return units > 0;
}

}  // namespace

CsvSample::CsvSample(const CsvText& text, std::string_view header, const char* rows,
                     std::size_t columns)
    : text_(text), header_(header), first_(rows), rows_(rows), cells_(columns) {
  constexpr std::size_t kRows = 200, kCells = 40000;
  const std::size_t most = std::min(kRows, std::max<std::size_t>(5, kCells / columns));
  read(most);
  if (first_rows_.size() < 2 || !may_be_units(first_rows_[0], first_rows_[1])) return;
  cells_.assign(columns, {});
  rows_ = second_row_;
  read(most);
}

void CsvSample::read(std::size_t most) {
  const char* p = rows_;
  for (std::size_t row = 0; row < most && p != text_.end(); ++row) {
    std::vector<std::string> cells(cells_.size());
    if (!read_row(p, [&](std::size_t c, std::string_view cell) {
          if (!spells_unknown(cell)) cells_[c].emplace_back(cell);
          if (row < 2) cells[c] = cell;
        }))
      break;
    if (row == 0) second_row_ = p;
    if (row < 2) first_rows_.push_back(std::move(cells));
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
