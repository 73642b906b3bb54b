// Rows are read once, from the first byte to the last, into arrays of events and observations. A
// file whose rows are already sorted by series and time (what write_csv makes) needs nothing more;
// any other is put in order afterwards. Every row is held against the one before it as it is read,
// so what comes out is in order without another pass over it (Dataset::check takes a fifth of the
// time of reading).
//
// The quick way is that of numbers, empty cells and repeated ids. Whatever else a cell holds takes
// a longer one, and what is wrong is noted and reading goes on, so that all of it is told at once.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>

#include "edict/core/error.h"
#include "edict/core/not_finite.h"
#include "edict/core/utf8.h"
#include "edict/data/subset.h"
#include "edict/sources/count_times.h"
#include "edict/sources/csv.h"
#include "edict/sources/csv_layout.h"
#include "edict/sources/csv_names.h"
#include "edict/sources/csv_problems.h"
#include "edict/sources/csv_recognised.h"
#include "edict/sources/csv_text.h"
#include "edict/sources/decimal.h"
#include "edict/sources/event_rows.h"
#include "edict/sources/expand_texts.h"
#include "edict/sources/row_runs.h"
#include "edict/sources/text_values.h"

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

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", shortened(text, 40)); }

template <char kSeparator>
class CsvReader {
 public:
  CsvReader(const CsvText& text, const CsvLayout& layout, const ReadOptions& options)
      : text_(text), options_(options), layout_(layout), problems_(text) {
    comma_is_point_ = kSeparator != ',' && !layout_.decimal_point;
    if (layout_.one_series) ids_.index_of(kOnlyId);
    if (!layout_.long_form) texts_.resize(layout_.features.size());
    static_texts_.resize(layout_.statics.size());
    for (std::size_t c = 0; c < layout_.columns.size(); ++c) {
      CsvLayout::Column& column = layout_.columns[c];
      const auto index = static_cast<std::size_t>(column.index);
      if ((column.kind == CsvColumn::feature || column.kind == CsvColumn::category) &&
          all_names(layout_.names[c], false)) {
        texts_[index] = new_texts(layout_.names[c], false);
        column.kind = CsvColumn::category;
      } else if (column.kind == CsvColumn::static_covariate && all_names(layout_.names[c], true)) {
        static_texts_[index] = new_texts(layout_.names[c], true);
      }
    }
    layout_.count_runs();
  }

  Dataset read() {
    read_table();
    Dataset dataset = named();
    const Meanings meanings = meanings_of_columns(dataset.features);
    spell_truth(rows_, meanings);
    const EventRows::Merged merged = rows_.merge(duplicates_from_name(duplicates()));
    note_conflicts(merged, dataset.ids);
    problems_.report();
    check_labels();
    describe_series(dataset, meanings);
    place_events(rows_, meanings, options_, dataset);
    dataset.reading.recognised = notes(merged, meanings, dataset);
    return dataset;
  }

  // The same by way of temporary files: parts of the dataset, series by id, each with all names.
  // About `memory` bytes hold rows. What is known of every series (id, label, covariates) stays in
  // memory throughout.
  Reading read_by_id(RowRuns& runs, std::size_t memory, const TakePart& take) {
    // Of the memory a quarter holds rows: arrays grow by doubling, and are sorted by way of copies.
    const std::size_t at_once = memory / 4;
    runs_ = &runs;
    most_bytes_ = at_once;
    read_table();
    write_rows_away();
    Dataset all = named();
    const Meanings meanings = meanings_of_columns(all.features);
    problems_.report();
    check_labels();
    describe_series(all, meanings);
    all.first_event.assign(all.size() + 1, 0);
    ReadOptions options = options_;
    if (layout_.time_kind != TimeKind::number && options.time_unit.empty() && !options.like)
      options.time_unit = name_of(usual_unit(spans()));

    std::vector<std::size_t> by_id(all.size());
    std::iota(by_id.begin(), by_id.end(), std::size_t{0});
    std::sort(by_id.begin(), by_id.end(),
              [&](std::size_t a, std::size_t b) { return all.ids[a] < all.ids[b]; });
    std::vector<std::int32_t> rank(all.size());
    for (std::size_t k = 0; k < by_id.size(); ++k) rank[by_id[k]] = static_cast<std::int32_t>(k);
    runs.begin_reading(std::move(rank));
    EventRows::Merged merged;
    for (std::size_t next = 0; next < by_id.size();) {
      const std::size_t first = next;
      std::vector<std::size_t> numbers;
      rows_.clear();
      for (; next < by_id.size() && rows_.bytes() < at_once / 4; ++next)
        runs.take(static_cast<std::int32_t>(next), static_cast<std::int32_t>(next - first), rows_,
                  numbers);
      if (!zones_differ_) rows_.zones.clear();
      const std::span<const std::size_t> series(by_id.data() + first, next - first);
      spell_truth(rows_, meanings);
      add_conflicts(rows_.merge(duplicates_from_name(duplicates())), series, numbers, merged);
      if (merged.refused > 0) continue;  // the rest is only read to tell of it
      Dataset part = subset(all, series);
      place_events(rows_, meanings, options, part);
      all.time_axis = part.time_axis.rules();
      take(part);
    }
    note_conflicts(merged, all.ids);
    problems_.report();
    all.reading.recognised = notes(merged, meanings, all);
    return std::move(all.reading);
  }

 private:
  static constexpr std::size_t kSample = 256;
  using Texts = std::vector<std::unique_ptr<TextColumn>>;

  struct Meanings {
    std::vector<ColumnMeaning> features, statics;
  };

  void read_table() {
    const char* p = layout_.rows;
    try {
      read_rows(p);
    } catch (const CsvQuoteError& error) {
      problems_.add(CsvProblem::quote, error.at, {}, error.reason);
      forget(row_begin_);
    }
    if (labels_.empty() && problems_.empty())
      text_.fail(p, "a header but no rows; add at least one series");
    if ((layout_.long_form ? features_.list() : layout_.features).empty() && problems_.empty())
      text_.fail(p, layout_.name_of(CsvColumn::feature_name),
                 "no row names a feature; add at least one");
  }

  // The names of the features and the series.
  Dataset named() {
    Dataset dataset;
    dataset.features = layout_.long_form ? features_.list() : layout_.features;
    dataset.ids = std::move(ids_.list());
    return dataset;
  }

  Meanings meanings_of_columns(const std::vector<std::string>& features) {
    return {meanings_of_features(features), meanings_of_statics()};
  }

  // What is known of series, and of the columns.
  void describe_series(Dataset& dataset, const Meanings& meanings) {
    dataset.statics = layout_.statics;
    dataset.classes = std::move(classes_.list());
    dataset.groups = std::move(groups_.list());
    sort_names(dataset.classes, labels_);
    sort_names(dataset.groups, group_of_);
    dataset.labels = std::move(labels_);
    dataset.group_of = std::move(group_of_);
    dataset.static_values = std::move(static_values_);
    describe_reading(dataset.reading, dataset.features, meanings.features, meanings.statics);
  }

  // The merged rows of the dataset's series, as its events.
  void place_events(EventRows& rows, const Meanings& meanings, const ReadOptions& options,
                    Dataset& dataset) const {
    const std::vector<std::int16_t> zones = std::move(rows.zones);
    move_events(rows, dataset);
    dataset.time_axis.kind = layout_.time_kind;
    dataset.time_axis.style = style_;
    dataset.time_axis.zone = zone_;
    try {
      note_zones(dataset, zones);
      expand_texts(dataset, meanings.features, meanings.statics);
      count_times(dataset, options);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", text_.name(), error.what()));
    }
  }

  std::vector<std::string> notes(const EventRows::Merged& merged, const Meanings& meanings,
                                 const Dataset& dataset) const {
    RecognisedTable table{text_, layout_, options_, merged, comma_used_, {}};
    for (std::size_t f = 0; f < texts_.size(); ++f)
      if (texts_[f])
        table.texts.push_back(
            {source_features_[f], false, &meanings.features[f], texts_[f]->unknown});
    for (std::size_t s = 0; s < static_texts_.size(); ++s)
      if (static_texts_[s])
        table.texts.push_back(
            {layout_.statics[s], true, &meanings.statics[s], static_texts_[s]->unknown});
    return recognised(table, dataset);
  }

  // ---- rows that do not fit ----

  void write_rows_away() {
    count_numbers(rows_);
    zones_differ_ |= !rows_.zones.empty();
    earliest_.resize(ids_.list().size(), std::numeric_limits<double>::infinity());
    latest_.resize(ids_.list().size(), -std::numeric_limits<double>::infinity());
    for (std::size_t r = 0; r < rows_.times.size(); ++r) {
      const auto series = static_cast<std::size_t>(rows_.series[r]);
      earliest_[series] = std::min(earliest_[series], rows_.times[r]);
      latest_[series] = std::max(latest_[series], rows_.times[r]);
    }
    runs_->add(rows_, ids_.list(), zone_);
  }

  // Of the series that have more than one event, in seconds.
  std::vector<double> spans() const {
    std::vector<double> result;
    for (std::size_t i = 0; i < earliest_.size(); ++i)
      if (earliest_[i] < latest_[i]) result.push_back((latest_[i] - earliest_[i]) / 1e6);
    return result;
  }

  // Of a part, whose rows and series are counted for themselves.
  static void add_conflicts(const EventRows::Merged& part, std::span<const std::size_t> series,
                            const std::vector<std::size_t>& numbers, EventRows::Merged& all) {
    all.refused += part.refused;
    all.same += part.same;
    all.joined += part.joined;
    for (EventRows::Conflict conflict : part.conflicts) {
      if (all.conflicts.size() == EventRows::kKeptConflicts) break;
      conflict.earlier = numbers[conflict.earlier];
      conflict.later = numbers[conflict.later];
      conflict.series =
          static_cast<std::int32_t>(series[static_cast<std::size_t>(conflict.series)]);
      all.conflicts.push_back(conflict);
    }
  }

  static bool ends_cell(char c) { return CsvText::ends_cell<kSeparator>(c); }

  // Up to the end of the text, or to the row that makes one more event than `events`; returns where
  // the last row began.
  const char* read_rows(const char*& p,
                        std::size_t events = std::numeric_limits<std::size_t>::max()) {
    const char* first = p;
    const char* row = p;
    std::size_t read = 0;
    while (p != text_.end() && rows_dropped_ + rows_.times.size() <= events) {
      if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
        p = CsvText::next_line(p);
        continue;
      }
      row = p;
      read_row(p);
      if (++read == kSample)
        reserve(1.05 * static_cast<double>(text_.end() - first) / static_cast<double>(p - first));
      if (rows_.bytes() > most_bytes_) {
        text_.let_go(p);
        rows_dropped_ += rows_.times.size();
        if (runs_)
          write_rows_away();
        else
          rows_.clear();
      }
    }
    return row;
  }

  // The first rows tell how much the rest will need. In large pages: to be handed the memory in
  // small ones takes longer than to fill it.
  void reserve(double factor) {
    if (rows_.bytes() > 0)
      factor = std::min(factor, static_cast<double>(most_bytes_) /
                                    static_cast<double>(std::max(std::size_t{1}, rows_.bytes())));
    const auto grow = [factor](auto& list) {
      list.reserve(static_cast<std::size_t>(factor * static_cast<double>(list.size())) + 16);
      constexpr std::uintptr_t large = std::uintptr_t{1} << 21;
      const auto begin = reinterpret_cast<std::uintptr_t>(list.data());
      const auto end = reinterpret_cast<std::uintptr_t>(list.data() + list.capacity());
      const std::uintptr_t first = (begin + large - 1) / large * large;
      auto* const bytes = reinterpret_cast<char*>(list.data());
      if (first < end) ::madvise(bytes + (first - begin), end - first, MADV_HUGEPAGE);
    };
    grow(rows_.feature);
    grow(rows_.value);
    grow(rows_.times);
    grow(rows_.series);
    grow(rows_.first_observation);
  }

  void read_row(const char*& p) {
    const char* row = p;
    const std::span<const CsvLayout::Column> columns(layout_.columns);
    const std::size_t observed = row_begin_ = rows_.value.size();
    time_was_wrong_ = name_was_long_ = false;
    row_texts_.clear();
    problems_.begin_row();
    std::int32_t series = layout_.one_series ? 0 : Dataset::kNone;
    std::int32_t label = Dataset::kNone, group = Dataset::kNone, feature = Dataset::kNone;
    const char* value_at = nullptr;
    const char* time_at = p;
    std::int16_t zone = zone_;
    double time = kMissing;
    for (std::size_t c = 0;; ++c, ++p) {
      if (c == columns.size()) return skip_ragged(row, p, observed);
      const CsvLayout::Column column = columns[c];
      switch (column.kind) {
        case CsvColumn::feature:
          read_features(p, c);
          break;
        case CsvColumn::time:
          time_at = p;
          time = layout_.time_kind == TimeKind::number ? read_number(p, c) : read_time(p, c, zone);
          break;
        case CsvColumn::id:
          series = read_name(p, c, ids_);
          break;
        case CsvColumn::label:
          label = read_name(p, c, classes_, Unknown::may_be_spelled);
          break;
        case CsvColumn::group:
          group = read_name(p, c, groups_, Unknown::may_be_spelled);
          break;
        case CsvColumn::static_covariate:
          row_statics_.push_back(read_static(p, c));
          break;
        case CsvColumn::category:
          if (const double value =
                  read_category(p, c, *texts_[static_cast<std::size_t>(column.index)]);
              !is_missing(value))
            add_observation(column.index, value);
          break;
        case CsvColumn::feature_name:
          feature = read_name(p, c, features_);
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
    if (layout_.long_form && !finish_long_row(row, feature, value_at)) return;
    if (rows_.value.size() == observed) return;
    if (std::isnan(time)) {
      if (!time_was_wrong_)
        problems_.add(CsvProblem::no_time, time_at, layout_.name_of(CsvColumn::time),
                      "it is empty in a row with values; give the time of the observation");
      return forget(observed);
    }
    if (zone != zone_ && rows_.zones.empty()) rows_.zones.assign(rows_.times.size(), zone_);
    rows_.add_row(series, time, observed);
    if (zone != zone_ || !rows_.zones.empty()) rows_.zones.push_back(zone);
  }

  // The row is as if it had not been there; what was wrong with it has been noted.
  void forget(std::size_t observed) {
    rows_.feature.resize(observed);
    rows_.value.resize(observed);
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
                  fmt::format("{} cells where the header has {}; add or remove cells", found,
                              layout_.columns.size()));
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
        if (read_quickly(p, value) || !is_missing(value = read_any(p, c, layout_.columns[c].index)))
          add_observation(layout_.columns[c].index, value);
      }
      if (*p != kSeparator || c + 1 == end) return;
      ++p, ++c;
    }
  }

  void add_observation(std::int32_t feature, double value) {
    rows_.feature.push_back(feature);
    rows_.value.push_back(value);
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
    comma_used_ = true;
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
    comma_used_ |= with_point != Number::none;
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

  void note_no_number(std::string_view text, const char* at, std::string_view column) {
    problems_.add(CsvProblem::number, at, column,
                  in_quotes(text) +
                      " is not a number; write one, or leave the cell empty if nothing is known");
  }

  // A cell of a feature: a number, missing or a text.
  double read_any(const char*& p, std::size_t column, std::int32_t feature) {
    const CsvCell cell = text_.read_cell(p, scratch_);
    return value_of(cell, column, texts_, static_cast<std::size_t>(feature));
  }

  double value_of(const CsvCell& cell, std::size_t column, Texts& texts, std::size_t index) {
    if (spells_unknown(cell.text)) return kMissing;
    double value = 0.0;
    switch (const Number found = read_slowly(cell, value)) {
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
    if (static_texts_[index] && static_texts_[index]->all_names)
      return read_category(p, column, *static_texts_[index]);
    double value;
    if (read_quickly(p, value)) return value;
    return value_of(text_.read_cell(p, scratch_), column, static_texts_, index);
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
                             : " is neither a number nor a date; write 1.5 or 2024-03-01 12:30"));
    else
      note_infinite(cell, column, found);
    return kMissing;
  }

  // A date or Unix time, in microseconds.
  double read_time(const char*& p, std::size_t column, std::int16_t& zone) {
    if (layout_.time_kind != TimeKind::date) {
      const char* at = p;
      const double number = read_number(p, column);
      const double raw =
          std::round((layout_.time_kind == TimeKind::unix_seconds ? 1e6 : 1e3) * number);
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
    const auto date = parse_date(cell.text);
    const bool zoned = date && date->style.zone != DateStyle::Zone::none;
    if (!date || (dates_ > 0 && zoned != (style_.zone != DateStyle::Zone::none))) {
      time_was_wrong_ = true;
      problems_.add(
          CsvProblem::time, cell.at, layout_.names[column],
          in_quotes(cell.text) +
              (!date   ? " is not a date that can be read; write 2024-03-01 12:30"
               : zoned ? " names a time zone, and the times before do not; write all alike"
                       : " names no time zone, and the times before do; write all alike"));
      return kMissing;
    }
    if (dates_++ == 0) {
      style_ = date->style;
      zone_ = date->zone;
    } else if (date->style != style_) {
      style_ = fuller(style_, date->style);
    }
    last_date_.assign(cell.text);
    last_time_ = date->microseconds;
    zone = last_zone_ = date->zone;
    return last_time_;
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
    if (unknown == Unknown::may_be_spelled && spells_unknown(cell.text)) return Dataset::kNone;
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
    if (read_quickly(p, value))
      add_observation(Dataset::kNone, value);
    else if (!spells_unknown(text_.read_cell(p, scratch_).text))
      add_observation(Dataset::kNone, kMissing);
  }

  // False where the row is nothing.
  bool finish_long_row(const char* row, std::int32_t feature, const char* value_at) {
    const std::size_t observed = rows_.value.size();
    if (feature != Dataset::kNone) check_feature(row, feature);
    if (observed == 0 || rows_.feature.back() != Dataset::kNone) return true;  // without a value
    if (feature == Dataset::kNone) {
      problems_.add(CsvProblem::feature, row, layout_.name_of(CsvColumn::feature_name),
                    "it is empty beside a value; name the feature that was observed");
      forget(observed - 1);
      return false;
    }
    const auto index = static_cast<std::size_t>(feature);
    rows_.feature.back() = feature;
    double& value = rows_.value.back();
    const bool name = index < texts_.size() && texts_[index] && texts_[index]->all_names;
    if (!name && !std::isnan(value)) return true;
    const CsvCell cell = text_.read_cell(value_at, scratch_);
    const std::size_t column = static_cast<std::size_t>(
        std::find_if(layout_.columns.begin(), layout_.columns.end(),
                     [](const auto& c) { return c.kind == CsvColumn::value; }) -
        layout_.columns.begin());
    value = name ? add_text(cell, column, *texts_[index]) : value_of(cell, column, texts_, index);
    if (!is_missing(value)) return true;
    forget(observed - 1);
    return false;
  }

  // The first time that a feature is named.
  void check_feature(const char* row, std::int32_t feature) {
    if (feature < features_checked_) return;
    ++features_checked_;
    const std::string& name = features_.list()[static_cast<std::size_t>(feature)];
    if (!valid_feature_name(name))
      problems_.add(CsvProblem::feature, row, layout_.name_of(CsvColumn::feature_name),
                    in_quotes(name) +
                        " cannot name a feature; rename it (not id, time, label, group or "
                        "static:…)");
    if (!all_names(name, false)) return;
    texts_.resize(std::max(texts_.size(), static_cast<std::size_t>(feature) + 1));
    texts_[static_cast<std::size_t>(feature)] = new_texts(name, false);
  }

  // ---- series ----

  // What belongs to the series and not to the row: first known in any row, the same in all others.
  void describe(const char* row, std::size_t series, std::int32_t label, std::int32_t group) {
    row_statics_.resize(layout_.statics.size(), kMissing);
    // A row that was refused may have brought the id first.
    while (labels_.size() <= series) {
      labels_.push_back(Dataset::kNone);
      group_of_.push_back(Dataset::kNone);
      static_values_.resize(static_values_.size() + row_statics_.size(), kMissing);
    }
    const auto changes = [&](CsvColumn kind, const std::string& column) {
      problems_.add(CsvProblem::changed, row, column.empty() ? layout_.name_of(kind) : column,
                    fmt::format("it changes within id {}; give one value for the whole series",
                                in_quotes(ids_.list()[series])));
    };
    const auto take_once = [&](std::int32_t& known, std::int32_t now, CsvColumn kind) {
      if (now == Dataset::kNone || now == known) return;
      if (known != Dataset::kNone) return changes(kind, {});
      known = now;
    };
    take_once(labels_[series], label, CsvColumn::label);
    take_once(group_of_[series], group, CsvColumn::group);
    for (std::size_t s = 0; s < row_statics_.size(); ++s) {
      double& known = static_values_[series * row_statics_.size() + s];
      if (is_missing(row_statics_[s]) || same_value(known, row_statics_[s])) continue;
      if (!is_missing(known))
        changes(CsvColumn::static_covariate, static_column(s));
      else
        known = row_statics_[s];
    }
    row_statics_.clear();
  }

  // As the file calls it.
  std::string static_column(std::size_t index) const {
    for (std::size_t c = 0; c < layout_.columns.size(); ++c)
      if (layout_.columns[c].kind == CsvColumn::static_covariate &&
          static_cast<std::size_t>(layout_.columns[c].index) == index)
        return layout_.names[c];
    return {};
  }

  // ---- texts ----

  bool all_names(const std::string& column, bool is_static) const {
    if (std::find(options_.categories.begin(), options_.categories.end(), column) !=
        options_.categories.end())
      return true;
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

  void note_mistakes(const TextColumn& texts, std::string_view column) {
    for (std::size_t k = 0; k < texts.at.size(); ++k)
      note_no_number(texts.names.list()[static_cast<std::size_t>(texts.text[k])], texts.at[k],
                     column);
    problems_.count(CsvProblem::number, texts.cells - texts.at.size());
  }

  bool known_as_numbers(const std::string& name, bool is_static) const {
    if (!options_.like) return false;
    const Reading& reading = options_.like->reading;
    const auto& names = is_static ? reading.statics : reading.features;
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::vector<ColumnMeaning> meanings_of_features(const std::vector<std::string>& features) {
    source_features_ = features;
    std::vector<ColumnMeaning> meanings(features.size());
    texts_.resize(features.size());
    const auto any = [](const auto& texts) { return texts != nullptr; };
    if (std::none_of(texts_.begin(), texts_.end(), any)) return meanings;
    count_numbers(rows_);
    numbers_.resize(features.size(), 0);
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (!texts_[f]) continue;
      meanings[f] = meaning_of(*texts_[f], numbers_[f], known_as_numbers(features[f], false));
      if (meanings[f].kind == ColumnMeaning::Kind::mistakes)
        note_mistakes(*texts_[f],
                      layout_.long_form ? layout_.name_of(CsvColumn::value) : features[f]);
    }
    return meanings;
  }

  // How many observations of each feature are numbers and not texts.
  void count_numbers(const EventRows& rows) {
    for (std::size_t o = 0; o < rows.value.size(); ++o) {
      const auto f = static_cast<std::size_t>(rows.feature[o]);
      if (f >= numbers_.size()) numbers_.resize(f + 1, 0);
      numbers_[f] += !std::isnan(rows.value[o]);
    }
  }

  void spell_truth(EventRows& rows, const Meanings& meanings) const {
    const auto any = [](const ColumnMeaning& meaning) { return meaning.truth; };
    if (std::none_of(meanings.features.begin(), meanings.features.end(), any)) return;
    for (std::size_t o = 0; o < rows.value.size(); ++o) {
      const auto f = static_cast<std::size_t>(rows.feature[o]);
      if (meanings.features[f].truth) rows.value[o] = with_truth(rows.value[o], *texts_[f]);
    }
  }

  std::vector<ColumnMeaning> meanings_of_statics() {
    const std::size_t statics = layout_.statics.size();
    std::vector<ColumnMeaning> meanings(statics);
    for (std::size_t s = 0; s < statics; ++s) {
      if (!static_texts_[s]) continue;
      std::size_t numbers = 0;
      for (std::size_t k = s; k < static_values_.size(); k += statics)
        numbers += !std::isnan(static_values_[k]);
      meanings[s] = meaning_of(*static_texts_[s], numbers,
                               known_as_numbers(static_column(s), true) && numbers > 0);
      if (meanings[s].kind == ColumnMeaning::Kind::mistakes)
        note_mistakes(*static_texts_[s], static_column(s));
      if (meanings[s].truth)
        for (std::size_t k = s; k < static_values_.size(); k += statics)
          static_values_[k] = with_truth(static_values_[k], *static_texts_[s]);
    }
    return meanings;
  }

  void describe_reading(Reading& reading, const std::vector<std::string>& features,
                        const std::vector<ColumnMeaning>& meanings,
                        const std::vector<ColumnMeaning>& static_meanings) const {
    reading.id = layout_.one_series ? "none" : layout_.name_of(CsvColumn::id);
    reading.time = layout_.name_of(CsvColumn::time);
    reading.label = layout_.name_of(CsvColumn::label);
    reading.group = layout_.name_of(CsvColumn::group);
    for (std::size_t f = 0; f < layout_.features.size(); ++f)
      if (meanings[f].kind != ColumnMeaning::Kind::left_out)
        reading.features.push_back(layout_.features[f]);
    reading.duplicates = duplicates();
    const auto add = [&](const std::string& column, bool is_static, const ColumnMeaning& meaning) {
      if (meaning.kind == ColumnMeaning::Kind::categories)
        reading.categories.push_back({column, is_static, meaning.categories});
    };
    for (std::size_t f = 0; f < features.size(); ++f) add(features[f], false, meanings[f]);
    for (std::size_t s = 0; s < layout_.statics.size(); ++s) {
      reading.statics.push_back(static_column(s));
      add(static_column(s), true, static_meanings[s]);
    }
  }

  // ---- the end ----

  std::string duplicates() const {
    return options_.duplicates.empty() && options_.like ? options_.like->reading.duplicates
                                                        : options_.duplicates;
  }

  void note_conflicts(const EventRows::Merged& merged, const std::vector<std::string>& ids) {
    if (merged.refused == 0) return;
    // Where a row with values stands is not kept: reading again is for errors only.
    std::vector<std::size_t> wanted;
    for (const auto& conflict : merged.conflicts) {
      wanted.push_back(conflict.earlier);
      wanted.push_back(conflict.later);
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::vector<const char*> places;
    CsvReader again(text_, layout_, options_);
    again.most_bytes_ = 0;  // its rows are only counted
    const char* p = layout_.rows;
    for (const std::size_t row : wanted) places.push_back(again.read_rows(p, row));
    const auto place = [&](std::size_t row) {
      return places[static_cast<std::size_t>(std::lower_bound(wanted.begin(), wanted.end(), row) -
                                             wanted.begin())];
    };
    for (const auto& conflict : merged.conflicts)
      problems_.add(
          CsvProblem::repeated, place(conflict.later),
          source_features_[static_cast<std::size_t>(conflict.feature)],
          fmt::format(
              "id {} has {} here and {} in line {} at the same time{}; correct one, or give "
              "--duplicates mean, first or last",
              in_quotes(ids[static_cast<std::size_t>(conflict.series)]),
              value_text(conflict.feature, conflict.second),
              value_text(conflict.feature, conflict.first), text_.line_of(place(conflict.earlier)),
              coarse(conflict.time)));
    problems_.count(CsvProblem::repeated, merged.refused - merged.conflicts.size());
  }

  // Whole numbers beyond 2⁵³, as nanoseconds since 1970, may differ in the file and not as doubles.
  static std::string coarse(double time) {
    const double apart = std::nextafter(std::abs(time), kInfinity) - std::abs(time);
    return apart > 1 ? fmt::format(
                           " (numbers this large are told apart from {} on: count them from "
                           "a later start)",
                           apart)
                     : std::string();
  }

  std::string value_text(std::int32_t feature, double value) const {
    if (!is_text(value)) return fmt::format("{}", value);
    return in_quotes(texts_[static_cast<std::size_t>(feature)]
                         ->names.list()[static_cast<std::size_t>(text_of(value))]);
  }

  // A label names a class. Many different numbers are a quantity.
  void check_labels() const {
    constexpr std::size_t kMostNumbers = 20;
    const std::vector<std::string>& names = classes_.list();
    bool whole = true;
    for (const std::string& name : names) {
      const auto number = finite_number(name);
      if (!number) return;
      whole &= *number == std::floor(*number);
    }
    if (names.empty() || (whole && names.size() <= kMostNumbers)) return;
    throw Error(fmt::format(
        "{}: column '{}': {}, which looks like a quantity and not like classes; make a few classes "
        "of it, choose another column with --label, or leave it out with --label none",
        text_.name(), layout_.name_of(CsvColumn::label),
        whole ? fmt::format("{} different numbers", names.size())
              : fmt::format("numbers that are not whole, as {}",
                            *std::find_if(names.begin(), names.end(), [](const std::string& name) {
                              const double number = *finite_number(name);
                              return number != std::floor(number);
                            }))));
  }

  static void move_events(EventRows& rows, Dataset& dataset) {
    std::vector<std::size_t> first_event(dataset.size() + 1, 0);
    for (const std::int32_t series : rows.series)
      ++first_event[static_cast<std::size_t>(series) + 1];
    std::partial_sum(first_event.begin(), first_event.end(), first_event.begin());
    dataset.first_event = std::move(first_event);
    dataset.times = std::move(rows.times);
    dataset.first_observation = std::move(rows.first_observation);
    dataset.feature = std::move(rows.feature);
    dataset.value = std::move(rows.value);
  }

  const CsvText& text_;
  const ReadOptions& options_;
  CsvLayout layout_;
  CsvProblems problems_;
  CsvNames ids_, classes_, groups_, features_;
  std::int32_t features_checked_ = 0;
  std::string scratch_;
  Texts texts_, static_texts_;  // one a feature and a covariate, where it has any
  std::vector<std::string> source_features_;
  bool comma_is_point_ = false, comma_used_ = false;

  // Dates: their style so far, and the one above.
  DateStyle style_;
  std::int16_t zone_ = 0, last_zone_ = 0;
  std::size_t dates_ = 0;
  std::string last_date_;
  double last_time_ = 0;
  // Of the row at hand.
  std::size_t row_begin_ = 0;
  std::vector<TextColumn*> row_texts_;
  bool time_was_wrong_ = false, name_was_long_ = false;  // and noted as such

  std::vector<std::int32_t> labels_, group_of_;
  std::vector<double> static_values_, row_statics_;
  EventRows rows_;
  std::vector<std::size_t> numbers_;  // of each feature

  // Rows of more bytes are written away, or dropped where there is nowhere to write them.
  std::size_t most_bytes_ = std::numeric_limits<std::size_t>::max();
  std::size_t rows_dropped_ = 0;
  RowRuns* runs_ = nullptr;
  bool zones_differ_ = false;
  std::vector<double> earliest_, latest_;  // of each series, raw
};

// use(reader) with the reader of the text's separator.
template <class Use>
auto read(CsvText text, const ReadOptions& options, const Use& use) {
  for (;;) {
    try {
      const CsvLayout layout = read_csv_layout(text, options);
      switch (text.separator()) {
        case ';':
          return use(CsvReader<';'>(text, layout, options));
        case '\t':
          return use(CsvReader<'\t'>(text, layout, options));
        case '|':
          return use(CsvReader<'|'>(text, layout, options));
        default:
          return use(CsvReader<','>(text, layout, options));
      }
    } catch (const CsvNotUtf8&) {
      if (!text.can_be_windows_1252())
        throw Error(fmt::format(
            "{}: begins as UTF-8 or UTF-16 and then holds bytes that are neither; convert it",
            text.name()));
    }
    text.read_as_windows_1252();
  }
}

}  // namespace

Dataset read_csv(const std::filesystem::path& path, const ReadOptions& options) {
  return read(CsvText::from_file(path, options.limits), options,
              [](auto&& reader) { return reader.read(); });
}

Dataset read_csv_text(std::string_view text, const std::string& name, const ReadOptions& options) {
  return read(CsvText::from_memory(text, name, options.limits), options,
              [](auto&& reader) { return reader.read(); });
}

Reading read_csv_by_id(const std::filesystem::path& path, const ReadOptions& options,
                       std::size_t memory, const std::filesystem::path& folder,
                       const TakePart& take) {
  return read(CsvText::from_file(path, options.limits), options, [&](auto&& reader) {
    RowRuns runs(folder);
    return reader.read_by_id(runs, memory, take);
  });
}

}  // namespace edict
