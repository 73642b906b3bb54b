// Rows are read once, from the first byte to the last, into arrays of events and observations. A
// file whose rows are already sorted by series and time (what write_csv makes) needs nothing more;
// any other is put in order afterwards. Every row is held against the one before it as it is read,
// so what comes out is in order without another pass over it (Dataset::check takes a fifth of the
// time of reading).
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "edict/core/error.h"
#include "edict/sources/csv.h"
#include "edict/sources/csv_layout.h"
#include "edict/sources/csv_names.h"
#include "edict/sources/csv_text.h"
#include "edict/sources/decimal.h"

namespace edict {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

class CsvReader {
 public:
  CsvReader(const CsvText& text, const CsvLimits& limits) : text_(text), limits_(limits) {}

  Dataset read() {
    const char* p = text_.begin();
    layout_ = read_csv_header(text_, p, limits_);
    read_rows(p);
    if (ids_.list().empty()) text_.fail(p, "a header but no rows; add at least one series");
    Dataset dataset;
    dataset.features =
        layout_.long_form ? std::move(features_.list()) : std::move(layout_.features);
    if (dataset.features.empty())
      text_.fail(p, "feature", "no row names a feature; add at least one");
    dataset.statics = std::move(layout_.statics);
    dataset.ids = std::move(ids_.list());
    dataset.classes = std::move(classes_.list());
    dataset.groups = std::move(groups_.list());
    dataset.labels = std::move(labels_);
    dataset.group_of = std::move(group_of_);
    dataset.static_values = std::move(static_values_);
    sort_names(dataset.classes, dataset.labels);
    sort_names(dataset.groups, dataset.group_of);
    move_events(dataset);
    return dataset;
  }

 private:
  static constexpr std::size_t kSample = 256;

  // Up to the end of the text, or to the row that makes one more event than `events`; returns where
  // the last row began.
  const char* read_rows(const char*& p,
                        std::size_t events = std::numeric_limits<std::size_t>::max()) {
    const char* rows = p;
    const char* row = p;
    std::size_t read = 0;
    while (p != text_.end() && times_.size() <= events) {
      if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
        p = CsvText::next_line(p);
        continue;
      }
      row = p;
      read_row(p);
      if (++read == kSample)
        reserve(1.05 * static_cast<double>(text_.end() - rows) / static_cast<double>(p - rows));
    }
    return row;
  }

  // The first rows tell how much the rest will need. In large pages: to be handed the memory in
  // small ones takes longer than to fill it.
  void reserve(double factor) {
    const auto grow = [factor](auto& list) {
      list.reserve(static_cast<std::size_t>(factor * static_cast<double>(list.size())) + 16);
      constexpr std::uintptr_t large = std::uintptr_t{1} << 21;
      const auto begin = reinterpret_cast<std::uintptr_t>(list.data());
      const auto end = reinterpret_cast<std::uintptr_t>(list.data() + list.capacity());
      const std::uintptr_t first = (begin + large - 1) / large * large;
      auto* const bytes = reinterpret_cast<char*>(list.data());
      if (first < end) ::madvise(bytes + (first - begin), end - first, MADV_HUGEPAGE);
    };
    grow(feature_);
    grow(value_);
    grow(times_);
    grow(series_);
    grow(first_observation_);
  }

  void read_row(const char*& p) {
    const char* row = p;
    const std::span<const CsvLayout::Column> columns(layout_.columns);
    const std::size_t observed = value_.size();
    std::int32_t series = Dataset::kNone, label = Dataset::kNone, group = Dataset::kNone;
    std::int32_t feature = Dataset::kNone;
    double time = kMissing;
    for (std::size_t c = 0;; ++c, ++p) {
      if (c == columns.size()) fail_ragged(row);
      const CsvLayout::Column column = columns[c];
      switch (column.kind) {
        case CsvColumn::feature:
          read_features(p, c);
          break;
        case CsvColumn::time:
          time = read_number(p, c);
          break;
        case CsvColumn::id:
          series = read_name(p, c, ids_);
          if (series == Dataset::kNone) text_.fail(row, "id", "it is empty; give every row an id");
          break;
        case CsvColumn::label:
          label = read_name(p, c, classes_, Unknown::may_be_spelled);
          break;
        case CsvColumn::group:
          group = read_name(p, c, groups_, Unknown::may_be_spelled);
          break;
        case CsvColumn::static_covariate:
          row_statics_.push_back(read_number(p, c));
          break;
        case CsvColumn::feature_name:
          feature = read_name(p, c, features_);
          if (feature != Dataset::kNone && !checked_feature(feature))
            text_.fail(row, layout_.names[c],
                       fmt::format("'{}' cannot name a feature; rename it (no colon, not id, time, "
                                   "label or group)",
                                   features_.list()[static_cast<std::size_t>(feature)]));
          break;
        case CsvColumn::value:
          if (const double value = read_number(p, c); !std::isnan(value))
            add_observation(Dataset::kNone, value);
          break;
      }
      if (*p == ',') continue;
      if (c + 1 != columns.size()) fail_ragged(row);
      break;
    }
    p = CsvText::next_line(p);
    describe(row, static_cast<std::size_t>(series), label, group);
    if (value_.size() == observed) return;
    if (std::isnan(time))
      text_.fail(row, "time", "it is empty in a row with values; give the time of the observation");
    if (layout_.long_form) {
      if (feature == Dataset::kNone)
        text_.fail(row, layout_.name_of(CsvColumn::feature_name),
                   "it is empty beside a value; name the feature that was observed");
      feature_.back() = feature;
    }
    // In order: behind the last row of the same series, or the first row of a later one.
    if (!series_.empty() && series <= series_.back())
      sorted_ &= series == series_.back() && time > times_.back();
    series_.push_back(series);
    times_.push_back(time);
    first_observation_.push_back(observed);
  }

  // The cells of neighbouring feature columns from c on; leaves p behind the last of them that the
  // row has. Empty cells are passed over up to eight at a time.
  void read_features(const char*& p, std::size_t& c) {
    const std::size_t end = c + layout_.columns[c].run;
    for (;;) {
      const std::size_t empty = std::min(count_commas(p), end - c);
      p += empty, c += empty;
      if (c == end) {
        --p, --c;
        return;
      }
      if (!CsvText::ends_cell(*p))
        if (const double value = read_number(p, c); !std::isnan(value))
          add_observation(layout_.columns[c].index, value);
      if (*p != ',' || c + 1 == end) return;
      ++p, ++c;
    }
  }

  void add_observation(std::int32_t feature, double value) {
    feature_.push_back(feature);
    value_.push_back(value);
  }

  static std::size_t count_commas(const char* p) {
    if constexpr (std::endian::native != std::endian::little) return *p == ',' ? 1 : 0;
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return static_cast<std::size_t>(std::countr_zero(word ^ 0x2c2c2c2c2c2c2c2cu)) / 8;
  }

  // What belongs to the series and not to the row: first known in any row, the same in all others.
  void describe(const char* row, std::size_t series, std::int32_t label, std::int32_t group) {
    if (series == labels_.size()) {
      labels_.push_back(label);
      group_of_.push_back(group);
      static_values_.insert(static_values_.end(), row_statics_.begin(), row_statics_.end());
    } else {
      const auto take_once = [&](auto& known, auto now, bool missing, bool unknown,
                                 std::string_view column) {
        if (missing || now == known) return;
        if (!unknown)
          text_.fail(row, column,
                     fmt::format("it changes within id '{}'; give one value for the whole series",
                                 ids_.list()[series]));
        known = now;
      };
      take_once(labels_[series], label, label == Dataset::kNone, labels_[series] == Dataset::kNone,
                "label");
      take_once(group_of_[series], group, group == Dataset::kNone,
                group_of_[series] == Dataset::kNone, "group");
      for (std::size_t s = 0; s < row_statics_.size(); ++s) {
        double& known = static_values_[series * row_statics_.size() + s];
        take_once(known, row_statics_[s], std::isnan(row_statics_[s]), std::isnan(known),
                  "static:" + layout_.statics[s]);
      }
    }
    row_statics_.clear();
  }

  enum class Unknown { is_empty, may_be_spelled };

  std::int32_t read_name(const char*& p, std::size_t column, CsvNames& names,
                         Unknown unknown = Unknown::is_empty) {
    if (names.repeats(p, text_.end())) {
      p += names.repeated();
      return names.last();
    }
    const CsvCell cell = text_.read_cell(p, scratch_);
    names.remember({});
    if (cell.text.empty()) return Dataset::kNone;
    if (unknown == Unknown::may_be_spelled && spells_unknown(cell.text)) return Dataset::kNone;
    if (cell.text.size() > limits_.text)
      text_.fail(cell.at, layout_.names[column],
                 fmt::format("the text is longer than {} bytes; shorten it or mend a quote",
                             limits_.text));
    names.remember({cell.at, static_cast<std::size_t>(p - cell.at)});
    const std::size_t known = names.list().size();
    const std::int32_t index = names.index_of(cell.text);
    if (names.list().size() > known) text_.check_utf8(cell, layout_.names[column]);
    return index;
  }

  bool checked_feature(std::int32_t feature) {
    if (feature < features_checked_) return true;
    ++features_checked_;
    return valid_feature_name(features_.list()[static_cast<std::size_t>(feature)]);
  }

  // NaN where the cell is empty; nothing else reads as NaN.
  double read_number(const char*& p, std::size_t column) {
    double value;
    const char* end;
    if (read_short_decimal(p, end, value) && CsvText::ends_cell(*end)) {
      p = end;
      return value;
    }
    return read_any_number(p, column);
  }

  double read_any_number(const char*& p, std::size_t column) {
    const CsvCell cell = text_.read_cell(p, scratch_);
    std::string_view digits = cell.text;
    if (digits.empty()) return kMissing;
    if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
    double value = 0.0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const auto refuse = [&](std::string_view what) {
      text_.fail(cell.at, layout_.names[column],
                 fmt::format("'{}{}' {}", cell.text.substr(0, 40), cell.text.size() > 40 ? "…" : "",
                             what));
    };
    if (error == std::errc::invalid_argument || end != digits.data() + digits.size())
      refuse("is not a number; write one, or leave the cell empty if nothing is known");
    if (error == std::errc::result_out_of_range)
      refuse("is beyond the range of a double; scale the column");
    if (!std::isfinite(value))
      refuse("is not finite; write a finite number, or leave the cell empty if nothing is known");
    return value;
  }

  [[noreturn]] void fail_ragged(const char* row) {
    std::size_t found = 1;
    for (const char* p = row;; ++p, ++found) {
      text_.read_cell(p, scratch_);
      if (*p != ',') break;
    }
    text_.fail(row, fmt::format("{} cells where the header has {}; add or remove cells", found,
                                layout_.columns.size()));
  }

  void move_events(Dataset& dataset) {
    first_observation_.push_back(value_.size());
    if (!sorted_) sort_rows(dataset);
    dataset.first_event.assign(dataset.size() + 1, 0);
    for (const std::int32_t series : series_)
      ++dataset.first_event[static_cast<std::size_t>(series) + 1];
    std::partial_sum(dataset.first_event.begin(), dataset.first_event.end(),
                     dataset.first_event.begin());
    dataset.times = std::move(times_);
    dataset.first_observation = std::move(first_observation_);
    dataset.feature = std::move(feature_);
    dataset.value = std::move(value_);
  }

  // Rows by series and time; rows of one event are joined in long form and an error in wide form.
  void sort_rows(const Dataset& dataset) {
    std::vector<std::size_t> order(times_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      if (series_[a] != series_[b]) return series_[a] < series_[b];
      if (times_[a] != times_[b]) return times_[a] < times_[b];
      return a < b;
    });
    std::vector<std::int32_t> series;
    std::vector<double> times;
    std::vector<std::size_t> first;
    std::vector<std::int32_t> features;
    std::vector<double> values;
    features.reserve(feature_.size());
    values.reserve(value_.size());
    struct Entry {
      std::int32_t feature;
      std::size_t row;
      double value;
    };
    std::vector<Entry> event;  // what is observed at the event at hand
    for (std::size_t i = 0; i < order.size();) {
      const std::size_t row = order[i];
      series.push_back(series_[row]);
      times.push_back(times_[row]);
      first.push_back(values.size());
      event.clear();
      for (;
           i < order.size() && series_[order[i]] == series_[row] && times_[order[i]] == times_[row];
           ++i) {
        if (!layout_.long_form && order[i] != row) fail_repeated(dataset, row, order[i], "");
        for (std::size_t o = first_observation_[order[i]]; o < first_observation_[order[i] + 1];
             ++o)
          event.push_back({feature_[o], order[i], value_[o]});
      }
      if (layout_.long_form) {
        std::sort(event.begin(), event.end(), [](const Entry& a, const Entry& b) {
          return a.feature != b.feature ? a.feature < b.feature : a.row < b.row;
        });
        for (std::size_t e = 1; e < event.size(); ++e)
          if (event[e].feature == event[e - 1].feature)
            fail_repeated(dataset, event[e - 1].row, event[e].row,
                          dataset.features[static_cast<std::size_t>(event[e].feature)]);
      }
      for (const Entry& entry : event) {
        features.push_back(entry.feature);
        values.push_back(entry.value);
      }
    }
    first.push_back(values.size());
    series_ = std::move(series);
    times_ = std::move(times);
    first_observation_ = std::move(first);
    feature_ = std::move(features);
    value_ = std::move(values);
  }

  [[noreturn]] void fail_repeated(const Dataset& dataset, std::size_t earlier, std::size_t later,
                                  std::string_view feature) {
    const auto& id = dataset.ids[static_cast<std::size_t>(series_[later])];
    text_.fail(find_row(later), layout_.name_of(CsvColumn::time),
               fmt::format("{} appears twice for id '{}'{} (first in line {}); merge or remove one",
                           times_[later], id,
                           feature.empty() ? "" : fmt::format(" and feature '{}'", feature),
                           text_.line_of(find_row(earlier))));
  }

  // Where a row with values stands is not kept: reading again is for errors only.
  const char* find_row(std::size_t row) const {
    CsvReader again(text_, limits_);
    const char* p = text_.begin();
    again.layout_ = read_csv_header(text_, p, limits_);
    return again.read_rows(p, row);
  }

  const CsvText& text_;
  const CsvLimits& limits_;
  CsvLayout layout_;
  CsvNames ids_, classes_, groups_, features_;
  std::int32_t features_checked_ = 0;
  std::string scratch_;

  std::vector<std::int32_t> labels_, group_of_;
  std::vector<double> static_values_, row_statics_;

  // One entry a row that holds a value.
  std::vector<std::int32_t> series_;
  std::vector<double> times_;
  std::vector<std::size_t> first_observation_;
  std::vector<std::int32_t> feature_;
  std::vector<double> value_;
  bool sorted_ = true;
};

}  // namespace

Dataset read_csv(const std::filesystem::path& path, const CsvLimits& limits) {
  const CsvText text = CsvText::from_file(path, limits);
  return CsvReader(text, limits).read();
}

Dataset read_csv_text(std::string_view text, const std::string& name, const CsvLimits& limits) {
  const CsvText csv = CsvText::from_memory(text, name, limits);
  return CsvReader(csv, limits).read();
}

}  // namespace edict
