// How a row is read. The quick way is that of numbers, empty cells and repeated ids. Whatever else
// a cell holds takes a longer one (csv_row_reader.h).
#include "data/read/csv/rows/csv_rows.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "data/read/cells/decimal.h"
#include "data/read/csv/rows/csv_row_reader.h"

namespace edict {
namespace {

// The only series of a table without ids.
constexpr const char* kOnlyId = "1";

// The first rows tell how much the rest will need. In large pages: to be handed the memory in small
// ones takes longer than to fill it.
void reserve(EventRows& rows, double factor) {
  const auto grow = [factor](auto& list) {
    list.reserve(static_cast<std::size_t>(factor * static_cast<double>(list.size())) + 16);
    constexpr std::uintptr_t large = std::uintptr_t{1} << 21;
    const auto begin = reinterpret_cast<std::uintptr_t>(list.data());
    const auto end = reinterpret_cast<std::uintptr_t>(list.data() + list.capacity());
    const std::uintptr_t first = (begin + large - 1) / large * large;
    auto* const bytes = reinterpret_cast<char*>(list.data());
    if (first < end) ::madvise(bytes + (first - begin), end - first, MADV_HUGEPAGE);
  };
  grow(rows.feature);
  grow(rows.value);
  grow(rows.times);
  grow(rows.series);
  grow(rows.first_observation);
}

template <char kSeparator>
class SeparatedRows final : public CsvRowReader {
 public:
  SeparatedRows(const CsvText& source, const CsvLayout& table_layout, const ReadOptions& options,
                CsvProblems& problems)
      : CsvRowReader(source, table_layout, options, problems) {
    comma_is_point_ = kSeparator != ',' && !layout().decimal_point;
    if (layout().one_series) table.ids.index_of(kOnlyId);
  }

  const char* read_all() override {
    const char* p = layout().rows;
    try {
      read_to(p, std::numeric_limits<std::size_t>::max());
    } catch (const CsvQuoteError& error) {
      note_quote(error.at, error.reason);
      forget(row_begin_);
    }
    finish_times();
    return p;
  }

  const char* read_to(const char*& p, std::size_t events) override {
    const char* first = p;
    const char* row = p;
    std::size_t read = 0;
    while (p != text().end() && rows_dropped_ + table.rows.times.size() <= events) {
      if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
        p = CsvText::next_line(p);
        continue;
      }
      if (text().repeats_line(p, layout().header)) {
        p = CsvText::next_line(p + layout().header.size());
        ++table.repeated_headers;
        continue;
      }
      row = p;
      read_row(p);
      if (++read == kSample) reserve_rest(first, p);
      if (table.rows.bytes() > most_bytes_) {
        text().let_go(p);
        rows_dropped_ += table.rows.times.size();
        empty_();
      }
    }
    return row;
  }

 private:
  static constexpr std::size_t kSample = 256;

  static bool ends_cell(char c) { return CsvText::ends_cell<kSeparator>(c); }

  // `p` stands behind the first kSample rows.
  void reserve_rest(const char* first, const char* p) {
    double factor =
        1.05 * static_cast<double>(text().end() - first) / static_cast<double>(p - first);
    if (const std::size_t bytes = table.rows.bytes(); bytes > 0)
      factor = std::min(factor, static_cast<double>(most_bytes_) / static_cast<double>(bytes));
    reserve(table.rows, factor);
  }

  // What the cells of a row say that are no values of the wide form.
  struct Row {
    std::int32_t series, label = Dataset::kNone, group = Dataset::kNone, feature = Dataset::kNone,
                         unit = Dataset::kNone;
    const char* value_at = nullptr;
    const char* time_at;
    std::int16_t zone;
    double time = kMissing, clock = 0;
  };

  void read_row(const char*& p) {
    const char* begin = p;
    const std::size_t columns = layout().columns.size();
    const std::size_t observed = row_begin_ = table.rows.value.size();
    begin_row();
    Row row{.series = layout().one_series ? 0 : Dataset::kNone, .time_at = p, .zone = table.zone};
    for (std::size_t c = 0;; ++c, ++p) {
      if (c == columns) return skip_ragged(begin, p, observed);
      read_cell(p, c, row);
      if (*p == kSeparator) continue;
      if (c + 1 != columns) return skip_ragged(begin, p, observed);
      break;
    }
    p = CsvText::next_line(p);
    if (row.series == Dataset::kNone) {
      note_no_id(begin);
      return forget(observed);
    }
    describe(begin, static_cast<std::size_t>(row.series), row.label, row.group);
    if (has_clock_) row.time += row.clock;
    if (places_) places_->push_back({begin, row.series, row.time});
    add_row(begin, row, observed);
  }

  // What was observed, if anything.
  void add_row(const char* begin, const Row& row, std::size_t observed) {
    if (layout().long_form && !finish_long_row(begin, row.feature, row.value_at)) return;
    if (row.unit != Dataset::kNone && table.rows.value.size() > observed)
      check_unit(begin, static_cast<std::size_t>(row.feature), row.unit);
    if (table.rows.value.size() == observed) return;
    if (std::isnan(row.time)) {
      note_without_time(begin, row.time_at);
      return forget(observed);
    }
    any_time_ = true;
    if (row.zone != table.zone && table.rows.zones.empty())
      table.rows.zones.assign(table.rows.times.size(), table.zone);
    table.rows.add_row(row.series, row.time, observed);
    if (row.zone != table.zone || !table.rows.zones.empty()) table.rows.zones.push_back(row.zone);
  }

  // The cell of column c, or several of neighbouring features; c is left at the last of them.
  void read_cell(const char*& p, std::size_t& c, Row& row) {
    const CsvLayout::Column column = layout().columns[c];
    switch (column.kind) {
      case ColumnKind::feature:
        return read_features(p, c);
      case ColumnKind::time:
        row.time_at = p;
        row.time = read_time(p, c, row.zone);
        return;
      case ColumnKind::clock:
        row.clock = clock_of(cell_at(p), c);
        return;
      case ColumnKind::id:
        row.series = read_name(p, c, table.ids, nullptr);
        return;
      case ColumnKind::label:
        row.label = read_name(p, c, table.classes, &table.label_words);
        return;
      case ColumnKind::group:
        row.group = read_name(p, c, table.groups, &table.group_words);
        return;
      case ColumnKind::static_covariate:
        row_statics_.push_back(read_static(p, c));
        return;
      case ColumnKind::category:
        if (const double value =
                category_of(cell_at(p), c, *table.texts[static_cast<std::size_t>(column.index)]);
            !is_missing(value))
          add_observation(column.index, value);
        return;
      case ColumnKind::feature_name:
        row.feature = read_name(p, c, table.features, nullptr);
        return;
      case ColumnKind::unit:
        row.unit = read_name(p, c, table.units, &table.unit_words);
        return;
      case ColumnKind::value:
        row.value_at = p;
        return read_long_value(p);
      case ColumnKind::ignored:
        cell_at(p);
    }
  }

  CsvCell cell_at(const char*& p) { return text().read_cell(p, scratch_); }

  void skip_ragged(const char* row, const char*& p, std::size_t observed) {
    std::size_t found = 1;
    for (p = row;; ++p, ++found) {
      cell_at(p);
      if (*p != kSeparator) break;
    }
    p = CsvText::next_line(p);
    note_ragged(row, found);
    forget(observed);
  }

  // The cells of neighbouring feature columns from c on; leaves p behind the last of them that the
  // row has. Empty cells are passed over up to eight at a time.
  void read_features(const char*& p, std::size_t& c) {
    const std::size_t end = c + layout().columns[c].run;
    for (;;) {
      const std::size_t empty = std::min(count_separators(p), end - c);
      p += empty, c += empty;
      if (c == end) {
        --p, --c;
        return;
      }
      if (!ends_cell(*p)) {
        double value;
        const std::int32_t feature = layout().columns[c].index;
        if (read_value_quickly(p, value) ||
            !is_missing(
                value = value_of(cell_at(p), c, table.texts, static_cast<std::size_t>(feature))))
          add_observation(feature, value);
      }
      if (*p != kSeparator || c + 1 == end) return;
      ++p, ++c;
    }
  }

  static std::size_t count_separators(const char* p) {
    if constexpr (std::endian::native != std::endian::little) return *p == kSeparator ? 1 : 0;
    constexpr std::uint64_t separators =
        0x0101010101010101u * static_cast<std::uint64_t>(static_cast<unsigned char>(kSeparator));
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return static_cast<std::size_t>(std::countr_zero(word ^ separators)) / 8;
  }

  // ---- cells ----

  bool read_quickly(const char*& p, double& value) {
    const char* end;
    if (read_short_decimal(p, end, value) && ends_cell(*end)) {
      p = end;
      return true;
    }
    if constexpr (kSeparator != ',')
      if (comma_is_point_ && read_with_comma(p, value)) return true;
    return false;
  }

  // The same where points may stand between groups of digits, which is seen once all of the column
  // is known.
  bool read_value_quickly(const char*& p, double& value) {
    if (layout().points_group && holds_point(p)) return false;
    return read_quickly(p, value);
  }

  static bool holds_point(const char* p) {
    while (!ends_cell(*p) && *p != '.') ++p;
    return *p == '.';
  }

  // A short number with a decimal comma, by way of a copy that has a point.
  bool read_with_comma(const char*& p, double& value) {
    constexpr std::size_t kLongest = 24;
    char copy[kLongest + 16];
    std::size_t length = 0;
    bool comma = false;
    for (; length < kLongest && !ends_cell(p[length]); ++length) {
      char c = p[length];
      if (c == '.') return false;
      if (c == ',') {
        if (comma) return false;
        comma = true;
        c = '.';
      }
      copy[length] = c;
    }
    if (length == kLongest || !comma) return false;
    std::memset(copy + length, 0, 16);
    const char* end;
    if (!read_short_decimal(copy, end, value) || end != copy + length) return false;
    table.comma_used = true;
    p += length;
    return true;
  }

  double read_static(const char*& p, std::size_t column) {
    const auto index = static_cast<std::size_t>(layout().columns[column].index);
    if (table.static_texts[index] && table.static_texts[index]->all_names)
      return category_of(cell_at(p), column, *table.static_texts[index]);
    double value;
    if (read_value_quickly(p, value)) return value;
    return value_of(cell_at(p), column, table.static_texts, index);
  }

  double read_time(const char*& p, std::size_t column, std::int16_t& zone) {
    if (layout().time.kind == TimeKind::date) return date_of(cell_at(p), column, zone);
    const char* at = p;
    double number;
    if (!read_quickly(p, number)) number = time_number_of(cell_at(p), column);
    return layout().time.kind == TimeKind::number ? number : unix_time_of(number, at, column);
  }

  std::int32_t read_name(const char*& p, std::size_t column, CsvNames& names, UnknownWords* words) {
    if (names.repeats(p, text().end(), kSeparator)) {
      p += names.repeated();
      return names.last();
    }
    const CsvCell cell = cell_at(p);
    const std::int32_t index = name_of(cell, column, names, words);
    if (index != Dataset::kNone) names.remember({cell.at, static_cast<std::size_t>(p - cell.at)});
    return index;
  }

  // The feature may be named behind the value: what the cell means is seen at the end of the row.
  void read_long_value(const char*& p) {
    double value;
    if (read_value_quickly(p, value))
      add_observation(Dataset::kNone, value);
    else if (!cell_at(p).text.empty())
      add_observation(Dataset::kNone, kMissing);
  }

  std::size_t rows_dropped_ = 0;  // from the table
  std::size_t row_begin_ = 0;     // of the row at hand, among the observations
};

}  // namespace

std::unique_ptr<CsvRows> csv_rows(const CsvText& text, const CsvLayout& layout,
                                  const ReadOptions& options, CsvProblems& problems) {
  switch (text.separator()) {
    case ';':
      return std::make_unique<SeparatedRows<';'>>(text, layout, options, problems);
    case '\t':
      return std::make_unique<SeparatedRows<'\t'>>(text, layout, options, problems);
    case '|':
      return std::make_unique<SeparatedRows<'|'>>(text, layout, options, problems);
    default:
      return std::make_unique<SeparatedRows<','>>(text, layout, options, problems);
  }
}

}  // namespace edict
