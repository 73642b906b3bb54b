// How a row is read. The quick way is that of numbers, empty cells and repeated ids. Whatever else
// a cell holds takes a longer one.
#include "data/read/csv/csv_rows.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text/counted.h"
#include "base/text/utf8.h"
#include "data/read/cells/column_names.h"
#include "data/read/cells/decimal.h"
#include "data/time/unix_time.h"

namespace edict {
namespace {

// The only series of a table without ids.
constexpr const char* kOnlyId = "1";

// How a cell reads as a number.
enum class Number { finite, none, out_of_range, infinite };

Number read_decimal(std::string_view text, double& value) {
  text = without_plus(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return Number::none;
  if (error == std::errc::result_out_of_range) return Number::out_of_range;
  return std::isfinite(value) ? Number::finite : Number::infinite;
}

template <char kSeparator>
class SeparatedRows final : public CsvRows {
 public:
  SeparatedRows(const CsvText& text, const CsvLayout& layout, const ReadOptions& options,
                CsvProblems& problems)
      : text_(text), options_(options), layout_(layout), problems_(problems) {
    comma_is_point_ = kSeparator != ',' && !layout_.decimal_point;
    for (const std::string& code : options_.missing)
      if (code != "none") missing_names_.push_back(code);
    if (layout_.one_series) table.ids.index_of(kOnlyId);
    if (!layout_.long_form) table.texts.resize(layout_.features.size());
    table.static_texts.resize(layout_.statics.size());
    for (std::size_t c = 0; c < layout_.columns.size(); ++c) {
      CsvLayout::Column& column = layout_.columns[c];
      const auto index = static_cast<std::size_t>(column.index);
      if ((column.kind == CsvColumn::feature || column.kind == CsvColumn::category) &&
          all_names(layout_.names[c], false)) {
        table.texts[index] = new_texts(layout_.names[c], false);
        column.kind = CsvColumn::category;
      } else if (column.kind == CsvColumn::static_covariate && all_names(layout_.names[c], true)) {
        table.static_texts[index] = new_texts(layout_.names[c], true);
      }
    }
    layout_.count_runs();
  }

  const char* read_all() override {
    const char* p = layout_.rows;
    try {
      read_to(p, std::numeric_limits<std::size_t>::max());
    } catch (const CsvQuoteError& error) {
      problems_.add(CsvProblem::quote, error.at, {}, error.reason);
      forget(row_begin_);
    }
    if (clock_style_.clock && table.style.format.empty())
      table.style = fuller(table.style, clock_style_);
    else if (clock_style_.clock)
      table.style.format += kClockFormat;
    // Without any time they are no such rows.
    if (!any_time_ && table.rows_before_times > 0) {
      problems_.begin_row();
      note_no_time(first_without_time_);
      problems_.count(CsvProblem::no_time, table.rows_before_times - 1);
    }
    return p;
  }

  const char* read_to(const char*& p, std::size_t events) override {
    const char* first = p;
    const char* row = p;
    std::size_t read = 0;
    while (p != text_.end() && rows_dropped_ + table.rows.times.size() <= events) {
      if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
        p = CsvText::next_line(p);
        continue;
      }
      if (text_.repeats_line(p, layout_.header)) {
        p = CsvText::next_line(p + layout_.header.size());
        ++table.repeated_headers;
        continue;
      }
      row = p;
      read_row(p);
      if (++read == kSample)
        reserve(1.05 * static_cast<double>(text_.end() - first) / static_cast<double>(p - first));
      if (table.rows.bytes() > most_bytes_) {
        text_.let_go(p);
        rows_dropped_ += table.rows.times.size();
        empty_();
      }
    }
    return row;
  }

 private:
  static constexpr std::size_t kSample = 256;
  using Texts = std::vector<std::unique_ptr<TextColumn>>;

  static bool ends_cell(char c) { return CsvText::ends_cell<kSeparator>(c); }

  // The first rows tell how much the rest will need. In large pages: to be handed the memory in
  // small ones takes longer than to fill it.
  void reserve(double factor) {
    if (table.rows.bytes() > 0)
      factor =
          std::min(factor, static_cast<double>(most_bytes_) /
                               static_cast<double>(std::max(std::size_t{1}, table.rows.bytes())));
    const auto grow = [factor](auto& list) {
      list.reserve(static_cast<std::size_t>(factor * static_cast<double>(list.size())) + 16);
      constexpr std::uintptr_t large = std::uintptr_t{1} << 21;
      const auto begin = reinterpret_cast<std::uintptr_t>(list.data());
      const auto end = reinterpret_cast<std::uintptr_t>(list.data() + list.capacity());
      const std::uintptr_t first = (begin + large - 1) / large * large;
      auto* const bytes = reinterpret_cast<char*>(list.data());
      if (first < end) ::madvise(bytes + (first - begin), end - first, MADV_HUGEPAGE);
    };
    grow(table.rows.feature);
    grow(table.rows.value);
    grow(table.rows.times);
    grow(table.rows.series);
    grow(table.rows.first_observation);
  }

  void read_row(const char*& p) {
    const char* row = p;
    const std::span<const CsvLayout::Column> columns(layout_.columns);
    const std::size_t observed = row_begin_ = table.rows.value.size();
    time_was_wrong_ = name_was_long_ = false;
    row_texts_.clear();
    problems_.begin_row();
    std::int32_t series = layout_.one_series ? 0 : Dataset::kNone;
    std::int32_t label = Dataset::kNone, group = Dataset::kNone, feature = Dataset::kNone,
                 unit = Dataset::kNone;
    const char* value_at = nullptr;
    const char* time_at = p;
    std::int16_t zone = table.zone;
    double time = kMissing, clock = 0;
    for (std::size_t c = 0;; ++c, ++p) {
      if (c == columns.size()) return skip_ragged(row, p, observed);
      const CsvLayout::Column column = columns[c];
      switch (column.kind) {
        case CsvColumn::feature:
          read_features(p, c);
          break;
        case CsvColumn::time:
          time_at = p;
          time = layout_.time.kind == TimeKind::number ? read_number(p, c) : read_time(p, c, zone);
          break;
        case CsvColumn::clock:
          clock = read_clock(p, c);
          break;
        case CsvColumn::id:
          series = read_name(p, c, table.ids);
          break;
        case CsvColumn::label:
          label = read_name(p, c, table.classes, Unknown::may_be_spelled);
          break;
        case CsvColumn::group:
          group = read_name(p, c, table.groups, Unknown::may_be_spelled);
          break;
        case CsvColumn::static_covariate:
          row_statics_.push_back(read_static(p, c));
          break;
        case CsvColumn::category:
          if (const double value =
                  read_category(p, c, *table.texts[static_cast<std::size_t>(column.index)]);
              !is_missing(value))
            add_observation(column.index, value);
          break;
        case CsvColumn::feature_name:
          feature = read_name(p, c, table.features);
          break;
        case CsvColumn::unit:
          unit = read_name(p, c, table.units, Unknown::may_be_spelled);
          break;
        case CsvColumn::value:
          value_at = p;
          read_long_value(p);
          break;
        case CsvColumn::ignored:
          text_.read_cell(p, scratch_);
          break;
      }
      if (*p == kSeparator) continue;
      if (c + 1 != columns.size()) return skip_ragged(row, p, observed);
      break;
    }
    p = CsvText::next_line(p);
    if (series == Dataset::kNone) {
      if (!name_was_long_)
        problems_.add(CsvProblem::no_id, row, layout_.name_of(CsvColumn::id),
                      "it is empty; give every row an id");
      return forget(observed);
    }
    describe(row, static_cast<std::size_t>(series), label, group);
    if (has_clock_) time += clock;
    if (places_) places_->push_back({row, series, time});
    if (layout_.long_form && !finish_long_row(row, feature, value_at)) return;
    if (unit != Dataset::kNone && table.rows.value.size() > observed)
      check_unit(row, static_cast<std::size_t>(feature), unit);
    if (table.rows.value.size() == observed) return;
    if (std::isnan(time)) {
      // Devices write what they know of themselves first, in rows without a time.
      if (!time_was_wrong_ && layout_.time.kind == TimeKind::date && !any_time_) {
        ++table.rows_before_times;
        first_without_time_ = table.rows_before_times == 1 ? time_at : first_without_time_;
        for (TextColumn* texts : row_texts_) texts->take_back(row);
      } else if (!time_was_wrong_) {
        note_no_time(time_at);
      }
      return forget(observed);
    }
    any_time_ = true;
    if (zone != table.zone && table.rows.zones.empty())
      table.rows.zones.assign(table.rows.times.size(), table.zone);
    table.rows.add_row(series, time, observed);
    if (zone != table.zone || !table.rows.zones.empty()) table.rows.zones.push_back(zone);
  }

  void note_no_time(const char* at) {
    problems_.add(CsvProblem::no_time, at, layout_.name_of(CsvColumn::time),
                  "it is empty in a row with values; give the time of the observation, or name "
                  "columns of one value a series with " +
                      option("static"));
  }

  // The row is as if it had not been there; what was wrong with it has been noted.
  void forget(std::size_t observed) {
    table.rows.feature.resize(observed);
    table.rows.value.resize(observed);
    row_statics_.clear();
  }

  void skip_ragged(const char* row, const char*& p, std::size_t observed) {
    std::size_t found = 1;
    for (p = row;; ++p, ++found) {
      text_.read_cell(p, scratch_);
      if (*p != kSeparator) break;
    }
    p = CsvText::next_line(p);
    // Its cells may stand under the wrong names, so what they hold is no further mistake.
    for (TextColumn* texts : row_texts_) texts->take_back(row);
    problems_.drop_row(row);
    problems_.add(CsvProblem::cells, row, {},
                  fmt::format("{} where the header has {}; add or remove cells",
                              counted(found, "cell"), layout_.columns.size()));
    forget(observed);
  }

  // The cells of neighbouring feature columns from c on; leaves p behind the last of them that the
  // row has. Empty cells are passed over up to eight at a time.
  void read_features(const char*& p, std::size_t& c) {
    const std::size_t end = c + layout_.columns[c].run;
    for (;;) {
      const std::size_t empty = std::min(count_separators(p), end - c);
      p += empty, c += empty;
      if (c == end) {
        --p, --c;
        return;
      }
      if (!ends_cell(*p)) {
        double value;
        if (read_value_quickly(p, value) ||
            !is_missing(value = read_any(p, c, layout_.columns[c].index)))
          add_observation(layout_.columns[c].index, value);
      }
      if (*p != kSeparator || c + 1 == end) return;
      ++p, ++c;
    }
  }

  void add_observation(std::int32_t feature, double value) {
    table.rows.feature.push_back(feature);
    table.rows.value.push_back(value);
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
    if (layout_.points_group && holds_point(p)) return false;
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

  // The number of a cell that took no quick way.
  Number read_slowly(const CsvCell& cell, double& value) {
    const Number found = read_decimal(cell.text, value);
    if (found != Number::none || !comma_is_point_) return found;
    const std::size_t comma = cell.text.find(',');
    if (comma == std::string_view::npos ||
        cell.text.find_first_of(".,", comma + 1) != std::string_view::npos ||
        cell.text.find('.') != std::string_view::npos)
      return found;
    std::string copy(cell.text);
    copy[comma] = '.';
    const Number with_point = read_decimal(copy, value);
    table.comma_used |= with_point != Number::none;
    return with_point;
  }

  void note_infinite(const CsvCell& cell, std::size_t column, Number found) {
    problems_.add(CsvProblem::infinite, cell.at, layout_.names[column],
                  in_quotes(cell.text) +
                      (found == Number::out_of_range
                           ? " is beyond the range of a double; scale the column"
                           : " is not finite; write a finite number, or leave the cell empty if "
                             "nothing is known"));
  }

  // A cell of a feature: a number, missing or a text.
  double read_any(const char*& p, std::size_t column, std::int32_t feature) {
    const CsvCell cell = text_.read_cell(p, scratch_);
    return value_of(cell, column, table.texts, static_cast<std::size_t>(feature));
  }

  double value_of(const CsvCell& cell, std::size_t column, Texts& texts, std::size_t index) {
    if (spells_unknown(cell.text)) return kMissing;
    double value = 0.0;
    const bool grouped = layout_.points_group && cell.text.find('.') != std::string_view::npos;
    switch (const Number found = grouped ? Number::none : read_slowly(cell, value)) {
      case Number::finite:
        return value;
      case Number::none:
        break;
      default:
        note_infinite(cell, column, found);
        return kMissing;
    }
    if (index >= texts.size()) texts.resize(index + 1);
    if (!texts[index]) texts[index] = std::make_unique<TextColumn>();
    return add_text(cell, column, *texts[index]);
  }

  double add_text(const CsvCell& cell, std::size_t column, TextColumn& texts) {
    if (!check_length(cell, column)) return kMissing;
    if (!valid_utf8(cell.text)) throw CsvNotUtf8{};
    row_texts_.push_back(&texts);
    return texts.add(cell.text, cell.at);
  }

  // Every value is a name, be it a number.
  double read_category(const char*& p, std::size_t column, TextColumn& texts) {
    const CsvCell cell = text_.read_cell(p, scratch_);
    return spells_unknown(cell.text) ? kMissing : add_text(cell, column, texts);
  }

  double read_static(const char*& p, std::size_t column) {
    const auto index = static_cast<std::size_t>(layout_.columns[column].index);
    if (table.static_texts[index] && table.static_texts[index]->all_names)
      return read_category(p, column, *table.static_texts[index]);
    double value;
    if (read_value_quickly(p, value)) return value;
    return value_of(text_.read_cell(p, scratch_), column, table.static_texts, index);
  }

  // Digits of a day and a year, in words that are not read.
  static bool may_be_date(std::string_view text) {
    constexpr std::ptrdiff_t kFewest = 3;
    return std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }) >= kFewest;
  }

  // A cell that must be a number or missing.
  double read_number(const char*& p, std::size_t column) {
    double value;
    if (read_quickly(p, value)) return value;
    const CsvCell cell = text_.read_cell(p, scratch_);
    if (spells_unknown(cell.text)) return kMissing;
    const Number found = read_slowly(cell, value);
    if (found == Number::finite) return value;
    time_was_wrong_ = true;
    if (found == Number::none)
      problems_.add(CsvProblem::time, cell.at, layout_.names[column],
                    in_quotes(cell.text) +
                        (parse_date(cell.text)
                             ? " is a date, and the first times are numbers; write all alike"
                         : may_be_date(cell.text)
                             ? " is not a date that can be read; write 2024-03-01 12:30, or give " +
                                   option("time_format")
                             : " is neither a number nor a date; write 1.5 or 2024-03-01 12:30"));
    else
      note_infinite(cell, column, found);
    return kMissing;
  }

  // A date or Unix time, in microseconds.
  double read_time(const char*& p, std::size_t column, std::int16_t& zone) {
    if (layout_.time.kind != TimeKind::date) {
      const char* at = p;
      const double number = read_number(p, column);
      const double raw = raw_from_unix(layout_.time.kind, number);
      constexpr double kLargest = 9e15;  // up to here a double holds every microsecond
      if (std::isnan(raw) || std::abs(raw) <= kLargest) return raw;
      time_was_wrong_ = true;
      problems_.add(CsvProblem::time, at, layout_.names[column],
                    fmt::format("{} is no Unix time as the ones before are", number));
      return kMissing;
    }
    const CsvCell cell = text_.read_cell(p, scratch_);
    if (cell.text == last_date_ && !cell.text.empty()) {
      zone = last_zone_;
      return last_time_;
    }
    if (spells_unknown(cell.text)) return kMissing;
    const auto date = parse_date(cell.text, style_);
    const bool zoned = date && date->style.zone != DateStyle::Zone::none;
    if (!date || (dates_ > 0 && zoned != (table.style.zone != DateStyle::Zone::none))) {
      time_was_wrong_ = true;
      problems_.add(
          CsvProblem::time, cell.at, layout_.names[column],
          in_quotes(cell.text) +
              (!date   ? style_ && style_->format.empty() == false
                             ? " is not in the format that " + option("time_format") +
                                 " gives; correct the format or the date"
                             : " is not a date that can be read; write 2024-03-01 12:30, or give " +
                                 option("time_format")
                 : zoned ? " names a time zone, and the times before do not; write all alike"
                       : " names no time zone, and the times before do; write all alike"));
      return kMissing;
    }
    if (dates_++ == 0) {
      table.style = date->style;
      table.zone = date->zone;
    } else if (date->style != table.style) {
      table.style = fuller(table.style, date->style);
    }
    last_date_.assign(cell.text);
    last_time_ = date->microseconds;
    zone = last_zone_ = date->zone;
    return last_time_;
  }

  // The time of day beside a date, in microseconds.
  double read_clock(const char*& p, std::size_t column) {
    const CsvCell cell = text_.read_cell(p, scratch_);
    if (spells_unknown(cell.text)) return kMissing;
    if (const auto clock = parse_clock(cell.text, clock_style_)) return *clock;
    if (const auto hour = finite_number(cell.text); hour && *hour >= 0 && *hour <= 24) {
      clock_style_.clock = true;
      return *hour * 3600e6;
    }
    time_was_wrong_ = true;
    problems_.add(CsvProblem::time, cell.at, layout_.names[column],
                  in_quotes(cell.text) + " is not a time of day; write 12:30");
    return kMissing;
  }

  enum class Unknown { is_empty, may_be_spelled };

  std::int32_t read_name(const char*& p, std::size_t column, CsvNames& names,
                         Unknown unknown = Unknown::is_empty) {
    if (names.repeats(p, text_.end(), kSeparator)) {
      p += names.repeated();
      return names.last();
    }
    const CsvCell cell = text_.read_cell(p, scratch_);
    names.remember({});
    if (cell.text.empty()) return Dataset::kNone;
    if (unknown == Unknown::may_be_spelled &&
        (spells_unknown(cell.text) || std::find(missing_names_.begin(), missing_names_.end(),
                                                cell.text) != missing_names_.end()))
      return Dataset::kNone;
    if (!check_length(cell, column)) return Dataset::kNone;
    names.remember({cell.at, static_cast<std::size_t>(p - cell.at)});
    const std::size_t known = names.list().size();
    const std::int32_t index = names.index_of(cell.text);
    if (names.list().size() > known && !valid_utf8(cell.text)) throw CsvNotUtf8{};
    return index;
  }

  bool check_length(const CsvCell& cell, std::size_t column) {
    if (cell.text.size() <= options_.limits.text) return true;
    problems_.add(CsvProblem::text, cell.at, layout_.names[column],
                  fmt::format("the text is longer than {} bytes; shorten it or mend a quote",
                              options_.limits.text));
    name_was_long_ = true;
    return false;
  }

  // ---- long form ----

  // The feature may be named behind the value: what the cell means is seen at the end of the row.
  void read_long_value(const char*& p) {
    double value;
    if (read_value_quickly(p, value))
      add_observation(Dataset::kNone, value);
    else if (!spells_unknown(text_.read_cell(p, scratch_).text))
      add_observation(Dataset::kNone, kMissing);
  }

  // False where the row is nothing.
  bool finish_long_row(const char* row, std::int32_t feature, const char* value_at) {
    const std::size_t observed = table.rows.value.size();
    if (feature != Dataset::kNone) check_feature(row, feature);
    if (observed == 0 || table.rows.feature.back() != Dataset::kNone)
      return true;  // without a value
    if (feature == Dataset::kNone) {
      problems_.add(CsvProblem::feature, row, layout_.name_of(CsvColumn::feature_name),
                    "it is empty beside a value; name the feature that was observed");
      forget(observed - 1);
      return false;
    }
    const auto index = static_cast<std::size_t>(feature);
    table.rows.feature.back() = feature;
    double& value = table.rows.value.back();
    const bool name =
        index < table.texts.size() && table.texts[index] && table.texts[index]->all_names;
    if (!name && !std::isnan(value)) return true;
    const CsvCell cell = text_.read_cell(value_at, scratch_);
    const std::size_t column = static_cast<std::size_t>(
        std::find_if(layout_.columns.begin(), layout_.columns.end(),
                     [](const auto& c) { return c.kind == CsvColumn::value; }) -
        layout_.columns.begin());
    value = name ? add_text(cell, column, *table.texts[index])
                 : value_of(cell, column, table.texts, index);
    if (!is_missing(value)) return true;
    forget(observed - 1);
    return false;
  }

  // One feature has one unit.
  void check_unit(const char* row, std::size_t feature, std::int32_t unit) {
    if (feature >= table.unit_of.size()) table.unit_of.resize(feature + 1, Dataset::kNone);
    std::int32_t& known = table.unit_of[feature];
    if (known == unit) return;
    const std::vector<std::string>& names = table.units.list();
    const std::string& now = names[static_cast<std::size_t>(unit)];
    const std::string& name = table.features.list()[feature];
    std::string before;
    if (known != Dataset::kNone)
      before = names[static_cast<std::size_t>(known)];
    else if (options_.like)
      before = options_.like->reading.unit_of(name);
    if (known == Dataset::kNone) known = unit;
    if (before.empty() || lower(before) == lower(now)) return;
    const std::string column = layout_.name_of(CsvColumn::unit);
    problems_.add(CsvProblem::unit, row, column,
                  fmt::format("'{}' is in {} here and in {} before; write one unit, or leave the "
                              "column out with {}",
                              name, now, before, option("ignore", column)));
  }

  // The first time that a feature is named.
  void check_feature(const char* row, std::int32_t feature) {
    if (feature < features_checked_) return;
    ++features_checked_;
    const std::string& name = table.features.list()[static_cast<std::size_t>(feature)];
    if (!valid_feature_name(name))
      problems_.add(CsvProblem::feature, row, layout_.name_of(CsvColumn::feature_name),
                    in_quotes(name) +
                        " cannot name a feature; rename it (not id, time, label, group or "
                        "static:…)");
    if (!all_names(name, false)) return;
    table.texts.resize(std::max(table.texts.size(), static_cast<std::size_t>(feature) + 1));
    table.texts[static_cast<std::size_t>(feature)] = new_texts(name, false);
  }

  // ---- series ----

  // What belongs to the series and not to the row: first known in any row, the same in all others.
  void describe(const char* row, std::size_t series, std::int32_t label, std::int32_t group) {
    row_statics_.resize(layout_.statics.size(), kMissing);
    // A row that was refused may have brought the id first.
    while (table.labels.size() <= series) {
      table.labels.push_back(Dataset::kNone);
      table.group_of.push_back(Dataset::kNone);
      table.static_values.resize(table.static_values.size() + row_statics_.size(), kMissing);
    }
    const auto changes = [&](CsvColumn kind, const std::string& column) {
      problems_.add(CsvProblem::changed, row, column.empty() ? layout_.name_of(kind) : column,
                    fmt::format("it changes within id {}; give one value for the whole series",
                                in_quotes(table.ids.list()[series])));
    };
    const auto take_once = [&](std::int32_t& known, std::int32_t now, CsvColumn kind) {
      if (now == Dataset::kNone || now == known) return;
      if (known != Dataset::kNone) return changes(kind, {});
      known = now;
    };
    take_once(table.labels[series], label, CsvColumn::label);
    take_once(table.group_of[series], group, CsvColumn::group);
    for (std::size_t s = 0; s < row_statics_.size(); ++s) {
      double& known = table.static_values[series * row_statics_.size() + s];
      if (is_missing(row_statics_[s]) || same_value(known, row_statics_[s])) continue;
      if (!is_missing(known))
        changes(CsvColumn::static_covariate, layout_.static_column(s));
      else
        known = row_statics_[s];
    }
    row_statics_.clear();
  }

  // ---- texts ----

  bool all_names(const std::string& column, bool is_static) const {
    for (const std::string& name : options_.categories)
      if (lower(name) == lower(column)) return true;
    return options_.like && options_.like->reading.category(column, is_static);
  }

  std::unique_ptr<TextColumn> new_texts(const std::string& column, bool is_static) const {
    auto texts = std::make_unique<TextColumn>();
    texts->all_names = true;
    const CategoryColumn* known =
        options_.like ? options_.like->reading.category(column, is_static) : nullptr;
    if (known) {
      for (const std::string& value : known->values) texts->names.index_of(value);
      texts->known = texts->names.list().size();
    }
    return texts;
  }

  const CsvText& text_;
  const ReadOptions& options_;
  CsvLayout layout_;  // knows which columns hold categories alone
  CsvProblems& problems_;
  std::int32_t features_checked_ = 0;
  std::size_t rows_dropped_ = 0;  // from the table
  std::string scratch_;
  bool comma_is_point_ = false;
  std::vector<std::string> missing_names_;  // of labels and groups
  bool any_time_ = false;
  const char* first_without_time_ = nullptr;
  const DateStyle* const style_ = layout_.time.style ? &*layout_.time.style : nullptr;
  DateStyle clock_style_;  // of the column beside the dates
  const bool has_clock_ = !layout_.name_of(CsvColumn::clock).empty();

  // The date above.
  std::int16_t last_zone_ = 0;
  std::size_t dates_ = 0;
  std::string last_date_;
  double last_time_ = 0;
  // Of the row at hand.
  std::size_t row_begin_ = 0;
  std::vector<TextColumn*> row_texts_;
  std::vector<double> row_statics_;
  bool time_was_wrong_ = false, name_was_long_ = false;  // and noted as such
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
