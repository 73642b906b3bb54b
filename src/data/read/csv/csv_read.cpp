// Rows are read once, from the first byte to the last, into arrays of events and observations. A
// file whose rows are already sorted by series and time (what write_csv makes) needs nothing more;
// any other is put in order afterwards. Every row is held against the one before it as it is read,
// so what comes out is in order without another pass over it (Dataset::check takes a fifth of the
// time of reading).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "data/read/count_times.h"
#include "data/read/csv/csv.h"
#include "data/read/csv/csv_problems.h"
#include "data/read/csv/csv_text.h"
#include "data/read/csv/layout/csv_layout.h"
#include "data/read/csv/meaning/csv_columns.h"
#include "data/read/csv/meaning/csv_conflicts.h"
#include "data/read/csv/meaning/csv_labels.h"
#include "data/read/csv/meaning/csv_recognised.h"
#include "data/read/csv/meaning/series_spans.h"
#include "data/read/csv/rows/csv_rows.h"
#include "data/read/expand_texts.h"
#include "data/read/row_runs.h"
#include "data/subset.h"

namespace edict {
namespace {

using Meanings = CsvColumns::Meanings;

class CsvReader {
 public:
  CsvReader(const CsvText& text, const CsvLayout& layout, const ReadOptions& options)
      : text_(text), options_(options), layout_(layout), problems_(text) {}

  Dataset read() {
    read_table();
    columns_.take_stock(table_.rows);
    note_spans(table_.rows);
    Dataset dataset = named();
    const Meanings meanings = columns_.meanings(dataset.features);
    columns_.settle(table_.rows, meanings);
    const std::size_t rows = table_.rows.times.size();
    const EventRows::Merged merged = table_.rows.merge(duplicates_from_name(duplicates()));
    conflicts_->note(merged, dataset.ids, problems_);
    problems_.report();
    check_one_series(rows, table_.rows.times.size(), merged);
    check_labels(text_, layout_, table_.classes.list());
    describe_series(dataset, meanings);
    place_events(table_.rows, meanings, with_unit(), dataset);
    dataset.reading.recognised = notes(merged, meanings, dataset);
    return dataset;
  }

  // The same by way of temporary files: parts of the dataset, series by id, each with all names.
  // About `memory` bytes hold rows. What is known of every series (id, label, covariates) stays in
  // memory throughout.
  Reading read_by_id(RowRuns& runs, std::size_t memory, const TakePart& take) {
    // Of the memory a quarter holds rows: arrays grow by doubling, and are sorted by way of copies.
    const std::size_t at_once = memory / 4;
    rows_->keep_within(at_once, [&] { write_away(runs); });
    read_table();
    write_away(runs);
    Dataset all = named();
    const Meanings meanings = columns_.meanings(all.features);
    problems_.report();
    check_labels(text_, layout_, table_.classes.list());
    describe_series(all, meanings);
    all.first_event.assign(all.size() + 1, 0);

    EventRows::Merged merged;
    const std::size_t events = take_parts(runs, at_once / 4, meanings, merged, all, take);
    conflicts_->note(merged, all.ids, problems_);
    problems_.report();
    check_one_series(runs.rows(), events, merged);
    all.reading.recognised = notes(merged, meanings, all);
    return std::move(all.reading);
  }

 private:
  void read_table() {
    const char* p = rows_->read_all();
    if (table_.labels.empty() && problems_.empty())
      text_.fail(p, "a header but no rows; add at least one series");
    if ((layout_.long_form ? table_.features.list() : layout_.features).empty() &&
        problems_.empty())
      text_.fail(p, layout_.name_of(ColumnKind::feature_name),
                 "no row names a feature; add at least one");
  }

  // The names of the features and the series.
  Dataset named() {
    Dataset dataset;
    dataset.features = layout_.long_form ? table_.features.list() : layout_.features;
    dataset.ids = std::move(table_.ids.list());
    conflicts_.emplace(text_, layout_, options_, table_, dataset.features);
    if (layout_.long_form)
      for (const std::string& name : layout_.categories)
        if (std::ranges::find(dataset.features, name) == dataset.features.end())
          throw Error(
              ErrorCode::not_found,
              {.subject = text_.name(),
               .problem = fmt::format("{}: there is no feature '{}'; it has {}", option("category"),
                                      name, quoted_list(dataset.features))});
    return dataset;
  }

  // Reads the rows back, series by id, and hands them on; returns how many events they are.
  std::size_t take_parts(RowRuns& runs, std::size_t bytes, const Meanings& meanings,
                         EventRows::Merged& merged, Dataset& all, const TakePart& take) {
    const ReadOptions options = with_unit();
    std::vector<std::size_t> by_id(all.size());
    std::iota(by_id.begin(), by_id.end(), std::size_t{0});
    std::sort(by_id.begin(), by_id.end(),
              [&](std::size_t a, std::size_t b) { return all.ids[a] < all.ids[b]; });
    std::vector<std::int32_t> rank(all.size());
    for (std::size_t k = 0; k < by_id.size(); ++k) rank[by_id[k]] = static_cast<std::int32_t>(k);
    runs.begin_reading(std::move(rank));
    std::size_t events = 0;
    for (std::size_t next = 0; next < by_id.size();) {
      const std::size_t first = next;
      std::vector<std::size_t> numbers;
      table_.rows.clear();
      for (; next < by_id.size() && table_.rows.bytes() < bytes; ++next)
        runs.take(static_cast<std::int32_t>(next), static_cast<std::int32_t>(next - first),
                  table_.rows, numbers);
      if (!zones_differ_) table_.rows.zones.clear();
      const std::span<const std::size_t> series(by_id.data() + first, next - first);
      columns_.settle(table_.rows, meanings);
      CsvConflicts::add(table_.rows.merge(duplicates_from_name(duplicates())), series, numbers,
                        merged);
      events += table_.rows.times.size();
      if (merged.refused > 0) continue;  // the rest is only read to tell of it
      Dataset part = subset(all, series);
      place_events(table_.rows, meanings, options, part);
      all.time_axis = part.time_axis.rules();
      take(part);
    }
    return events;
  }

  // What is known of series, and of the columns.
  void describe_series(Dataset& dataset, const Meanings& meanings) {
    dataset.statics = layout_.statics;
    dataset.classes = std::move(table_.classes.list());
    dataset.groups = std::move(table_.groups.list());
    sort_names(dataset.classes, table_.labels);
    sort_names(dataset.groups, table_.group_of);
    dataset.labels = std::move(table_.labels);
    dataset.group_of = std::move(table_.group_of);
    dataset.static_values = std::move(table_.static_values);
    describe_columns(dataset.reading);
    describe_values(dataset.reading, dataset.features, meanings);
  }

  // The merged rows of the dataset's series, as its events.
  void place_events(EventRows& rows, const Meanings& meanings, const ReadOptions& options,
                    Dataset& dataset) const {
    const std::vector<std::int16_t> zones = std::move(rows.zones);
    rows.move_to(dataset);
    dataset.time_axis.kind = layout_.time.kind;
    dataset.time_axis.file_unit = layout_.time_unit;
    dataset.time_axis.style = table_.style;
    dataset.time_axis.zone = table_.zone;
    try {
      note_zones(dataset, zones);
      expand_texts(dataset, meanings.features, meanings.statics, columns_.some_missing());
      count_times(dataset, options);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", text_.name(), error.message(option)));
    }
  }

  std::vector<std::string> notes(const EventRows::Merged& merged, const Meanings& meanings,
                                 const Dataset& dataset) const {
    RecognisedTable table{.text = text_,
                          .layout = layout_,
                          .options = options_,
                          .merged = merged,
                          .table = table_,
                          .codes = columns_.codes_found()};
    const std::vector<std::string>& features = conflicts_->features();
    for (std::size_t f = 0; f < features.size(); ++f)
      table.texts.push_back(
          {features[f], &meanings.features[f], table_.texts[f].get(), table_.words[f]});
    for (std::size_t s = 0; s < layout_.statics.size(); ++s)
      table.texts.push_back(
          {layout_.statics[s], &meanings.statics[s], table_.static_texts[s].get(),
           s < table_.static_words.size() ? table_.static_words[s] : UnknownWords()});
    if (merged.joined > 0)
      table.first_joined = conflicts_->described(merged.first_joined, dataset.ids);
    return recognised(table, dataset);
  }

  // Several series that nothing tells apart have most of their times in common.
  void check_one_series(std::size_t rows, std::size_t events,
                        const EventRows::Merged& merged) const {
    const std::size_t shared = layout_.long_form ? merged.joined : rows - events;
    if (!layout_.one_series_guessed || 10 * shared <= rows) return;
    std::string maybe = "COLUMN";
    const std::vector<std::string>& features = conflicts_->features();
    for (std::size_t f = features.size(); f-- > 0;)
      if (f < table_.texts.size() && table_.texts[f]) maybe = features[f];
    throw Error(ErrorCode::malformed,
                {.subject = text_.name(),
                 .problem = fmt::format("there is no column of ids, and {} of {} rows have the "
                                        "time of another one, as if there were several series",
                                        shared, rows),
                 .remedy = fmt::format("name their column, as with {}, or give {}",
                                       option("id", maybe), option("id", "none"))});
  }

  void write_away(RowRuns& runs) {
    columns_.take_stock(table_.rows);
    zones_differ_ |= !table_.rows.zones.empty();
    note_spans(table_.rows);
    runs.add(table_.rows, table_.ids.list(), table_.zone);
  }

  void note_spans(const EventRows& rows) {
    if (layout_.time.kind != TimeKind::number) spans_.add(rows, table_.ids.list().size());
  }

  // The options with the unit of dates, which the rows decide.
  ReadOptions with_unit() const {
    ReadOptions options = options_;
    if (layout_.time.kind != TimeKind::number && options.time_unit.empty() && !options.like)
      options.time_unit = name_of(usual_unit(spans_.seconds()));
    return options;
  }

  void describe_columns(Reading& reading) const {
    reading.id = layout_.one_series ? "none" : layout_.name_of(ColumnKind::id);
    reading.time = layout_.name_of(ColumnKind::time);
    reading.label = layout_.name_of(ColumnKind::label);
    reading.group = layout_.name_of(ColumnKind::group);
    reading.columns = layout_.given_names;
    reading.duplicates = duplicates().empty() ? "mean" : duplicates();
    reading.clock = layout_.name_of(ColumnKind::clock);
    reading.variable = layout_.name_of(ColumnKind::feature_name);
    reading.value = layout_.name_of(ColumnKind::value);
    reading.missing = columns_.missing();
  }

  void describe_values(Reading& reading, const std::vector<std::string>& features,
                       const Meanings& meanings) const {
    for (std::size_t f = 0; f < layout_.features.size(); ++f)
      if (meanings.features[f].kind != ColumnMeaning::Kind::left_out)
        reading.features.push_back(layout_.features[f]);
    const auto add = [&](const std::string& column, bool is_static, const ColumnMeaning& meaning) {
      if (meaning.kind == ColumnMeaning::Kind::categories)
        reading.categories.push_back({column, is_static, meaning.categories});
    };
    for (std::size_t f = 0; f < features.size(); ++f) {
      add(features[f], false, meanings.features[f]);
      if (!meanings.features[f].unit.empty())
        reading.units.push_back({features[f], meanings.features[f].unit});
      else if (f < table_.unit_of.size() && table_.unit_of[f] != Dataset::kNone)
        reading.units.push_back(
            {features[f], table_.units.list()[static_cast<std::size_t>(table_.unit_of[f])]});
    }
    for (std::size_t s = 0; s < layout_.statics.size(); ++s) {
      reading.statics.push_back(layout_.static_column(s));
      add(layout_.static_column(s), true, meanings.statics[s]);
    }
  }

  std::string duplicates() const {
    return options_.duplicates.empty() && options_.like ? options_.like->reading.duplicates
                                                        : options_.duplicates;
  }

  const CsvText& text_;
  const ReadOptions& options_;
  const CsvLayout& layout_;
  CsvProblems problems_;
  const std::unique_ptr<CsvRows> rows_ = csv_rows(text_, layout_, options_, problems_);
  CsvTable& table_ = rows_->table;
  CsvColumns columns_{layout_, options_, table_, problems_};
  std::optional<CsvConflicts> conflicts_;  // once the features are known
  SeriesSpans spans_;
  bool zones_differ_ = false;  // of rows that were written away
};

// use(reader), where need be with the text in another encoding, or once it is known in which
// columns words such as None are categories.
template <class Use>
auto read(CsvText text, const ReadOptions& options, const Use& use) {
  std::vector<std::string> kept_words;
  for (;;) {
    try {
      CsvLayout layout = read_csv_layout(text, options);
      layout.kept_words = kept_words;
      return use(CsvReader(text, layout, options));
    } catch (const CsvKeptWords& found) {
      kept_words.insert(kept_words.end(), found.columns.begin(), found.columns.end());
      continue;
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
