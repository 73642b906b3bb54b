#include "data/read/csv/layout/csv_decimals.h"

#include <cmath>

#include "data/read/cells/written_number.h"
#include "data/read/csv/csv_names.h"

namespace edict {
namespace {

bool holds_numbers(ColumnKind kind) {
  return kind == ColumnKind::feature || kind == ColumnKind::value ||
         kind == ColumnKind::static_covariate || kind == ColumnKind::time;
}

// What is seen of decimal marks in cells.
struct Seen {
  bool comma_decimal = false, point_decimal = false;  // as this separator allows
  bool points_group = false, commas_group = false;    // 1.234,5 and 1,234.5
  bool comma_alone = false, point_alone = false;      // cells in which only that is a decimal mark
  std::string open;                                   // 1.234, which may be a thousand
  // Columns of which that alone is seen: with whole numbers beside it that a mark would not divide,
  // and with whole numbers that it would.
  bool small_beside_open = false, large_unmarked = false;

  bool decided() const { return comma_alone || point_alone || points_group || commas_group; }

  void look_at(const std::string& cell, bool commas_separate) {
    const bool comma = cell.find(',') != std::string::npos,
               point = cell.find('.') != std::string::npos;
    if (!comma && !point) return;
    const auto number = read_written_number(cell);
    if (!number) return;
    const bool only_comma = std::isnan(number->with_point),
               only_point = std::isnan(number->with_comma);
    comma_alone |= comma && only_comma;
    point_alone |= point && !comma && only_point;
    if (open.empty() && point && !comma && !only_comma && !only_point) open = cell;
    points_group |= number->points_group && !number->unit_is_certain;
    commas_group |= comma && std::isnan(number->with_comma);
    comma_decimal |= comma && (commas_separate ? only_comma : !point);
    point_decimal |= point && !comma && finite_number(cell);
  }

  // 812 beside 1.696: the point stands between digits. 1250 beside 1.696: it does not.
  void look_at_whole(const std::string& cell) {
    constexpr double kThousand = 1000;
    const auto number = finite_number(cell);
    if (!number || cell.find_first_of(".,") != std::string::npos) return;
    (std::abs(*number) < kThousand ? small_beside_open : large_unmarked) = true;
  }
};

// Nothing in the first rows decided: all rows are looked at, until one does.
void look_further(const TableSample& sample, const CsvLayout& layout, Seen& seen) {
  std::vector<Seen> of_column(layout.columns.size());
  sample.visit_rows([&](std::span<const std::string> cells) {
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      if (!holds_numbers(layout.columns[c].kind)) continue;
      seen.look_at(cells[c], false);
      if (of_column[c].open.empty()) of_column[c].look_at(cells[c], false);
      of_column[c].look_at_whole(cells[c]);
    }
    return !seen.decided();
  });
  for (const Seen& own : of_column) {
    seen.small_beside_open |= !own.open.empty() && own.small_beside_open;
    seen.large_unmarked |= !own.open.empty() && own.large_unmarked;
  }
}

}  // namespace

void recognise_decimals(const TableSample& sample, bool commas_separate, const ReadOptions& options,
                        CsvLayout& layout) {
  Seen seen;
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    if (holds_numbers(layout.columns[c].kind))
      for (const std::string& cell : sample[c]) seen.look_at(cell, commas_separate);
  const bool open =
      !commas_separate && options.decimal.empty() && !seen.open.empty() && !seen.decided();
  if (open) look_further(sample, layout, seen);
  layout.decimal_comma = seen.comma_decimal && !seen.commas_group;
  // Beside 46,5 points may stand between the digits of 1.234.
  layout.points_group =
      seen.points_group || (seen.comma_alone && !seen.open.empty() && !seen.commas_group);
  layout.decimal_point = seen.point_decimal && !layout.points_group;
  if (!options.decimal.empty()) {
    layout.points_group = options.decimal == "comma";
    layout.decimal = options.decimal == "comma" ? DecimalMark::comma : DecimalMark::point;
    layout.decimal_point = options.decimal == "point";
    return;
  }
  if (open && !seen.decided()) {
    layout.open_decimal = seen.open;
    layout.points_group = seen.small_beside_open && !seen.large_unmarked;
    layout.decimal_point = !layout.points_group;
    layout.decimal = layout.points_group ? DecimalMark::comma : DecimalMark::point;
    return;
  }
  if (layout.points_group != seen.commas_group)
    layout.decimal = seen.commas_group  ? DecimalMark::point
                     : seen.point_alone ? DecimalMark::open
                                        : DecimalMark::comma;
  else if (layout.decimal_comma != layout.decimal_point)
    layout.decimal = layout.decimal_comma ? DecimalMark::comma : DecimalMark::point;
  layout.decimal_point |= seen.commas_group;
}

}  // namespace edict
