// Rows are read once, from the first byte to the last, into arrays of events and observations. A
// file whose rows are already sorted by series and time (what write_csv makes) needs nothing more;
// any other is put in order afterwards. Every row is held against the one before it as it is read,
// so what comes out is in order without another pass over it (Dataset::check takes a fifth of the
// time of reading).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/not_finite.h"
#include "data/read/cells/missing_codes.h"
#include "data/read/cells/written_number.h"
#include "data/read/count_times.h"
#include "data/read/csv/csv.h"
#include "data/read/csv/csv_layout.h"
#include "data/read/csv/csv_problems.h"
#include "data/read/csv/csv_recognised.h"
#include "data/read/csv/csv_rows.h"
#include "data/read/csv/csv_text.h"
#include "data/read/expand_texts.h"
#include "data/read/row_runs.h"
#include "data/subset.h"

namespace edict {
namespace {

class CsvReader {
 public:
  CsvReader(const CsvText& text, const CsvLayout& layout, const ReadOptions& options)
      : text_(text), options_(options), layout_(layout), problems_(text) {}

  Dataset read() {
    read_table();
    take_stock(table_.rows);
    note_spans(table_.rows);
    Dataset dataset = named();
    const Meanings meanings = meanings_of_columns(dataset.features);
    settle(table_.rows, meanings);
    const std::size_t rows = table_.rows.times.size();
    const EventRows::Merged merged = table_.rows.merge(duplicates_from_name(duplicates()));
    note_conflicts(merged, dataset.ids);
    problems_.report();
    check_one_series(rows, table_.rows.times.size(), merged);
    check_labels();
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
    const Meanings meanings = meanings_of_columns(all.features);
    problems_.report();
    check_labels();
    describe_series(all, meanings);
    all.first_event.assign(all.size() + 1, 0);
    const ReadOptions options = with_unit();

    std::vector<std::size_t> by_id(all.size());
    std::iota(by_id.begin(), by_id.end(), std::size_t{0});
    std::sort(by_id.begin(), by_id.end(),
              [&](std::size_t a, std::size_t b) { return all.ids[a] < all.ids[b]; });
    std::vector<std::int32_t> rank(all.size());
    for (std::size_t k = 0; k < by_id.size(); ++k) rank[by_id[k]] = static_cast<std::int32_t>(k);
    runs.begin_reading(std::move(rank));
    EventRows::Merged merged;
    std::size_t events = 0;
    for (std::size_t next = 0; next < by_id.size();) {
      const std::size_t first = next;
      std::vector<std::size_t> numbers;
      table_.rows.clear();
      for (; next < by_id.size() && table_.rows.bytes() < at_once / 4; ++next)
        runs.take(static_cast<std::int32_t>(next), static_cast<std::int32_t>(next - first),
                  table_.rows, numbers);
      if (!zones_differ_) table_.rows.zones.clear();
      const std::span<const std::size_t> series(by_id.data() + first, next - first);
      settle(table_.rows, meanings);
      add_conflicts(table_.rows.merge(duplicates_from_name(duplicates())), series, numbers, merged);
      events += table_.rows.times.size();
      if (merged.refused > 0) continue;  // the rest is only read to tell of it
      Dataset part = subset(all, series);
      place_events(table_.rows, meanings, options, part);
      all.time_axis = part.time_axis.rules();
      take(part);
    }
    note_conflicts(merged, all.ids);
    problems_.report();
    check_one_series(runs.rows(), events, merged);
    all.reading.recognised = notes(merged, meanings, all);
    return std::move(all.reading);
  }

 private:
  struct Meanings {
    std::vector<ColumnMeaning> features, statics;
  };

  void read_table() {
    const char* p = rows_->read_all();
    if (table_.labels.empty() && problems_.empty())
      text_.fail(p, "a header but no rows; add at least one series");
    if ((layout_.long_form ? table_.features.list() : layout_.features).empty() &&
        problems_.empty())
      text_.fail(p, layout_.name_of(CsvColumn::feature_name),
                 "no row names a feature; add at least one");
  }

  // The names of the features and the series.
  Dataset named() {
    Dataset dataset;
    dataset.features = layout_.long_form ? table_.features.list() : layout_.features;
    dataset.ids = std::move(table_.ids.list());
    return dataset;
  }

  Meanings meanings_of_columns(const std::vector<std::string>& features) {
    return {meanings_of_features(features), meanings_of_statics()};
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
    describe_reading(dataset.reading, dataset.features, meanings.features, meanings.statics);
  }

  // The merged rows of the dataset's series, as its events.
  void place_events(EventRows& rows, const Meanings& meanings, const ReadOptions& options,
                    Dataset& dataset) const {
    const std::vector<std::int16_t> zones = std::move(rows.zones);
    move_events(rows, dataset);
    dataset.time_axis.kind = layout_.time.kind;
    dataset.time_axis.file_unit = layout_.time_unit;
    dataset.time_axis.style = table_.style;
    dataset.time_axis.zone = table_.zone;
    try {
      note_zones(dataset, zones);
      expand_texts(dataset, meanings.features, meanings.statics, some_missing_);
      count_times(dataset, options);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", text_.name(), error.message(option)));
    }
  }

  std::vector<std::string> notes(const EventRows::Merged& merged, const Meanings& meanings,
                                 const Dataset& dataset) const {
    RecognisedTable table{text_, layout_, options_, merged, table_.comma_used, {}, {}, {}, 0, 0};
    for (std::size_t f = 0; f < meanings.features.size(); ++f)
      if (f < table_.texts.size() && table_.texts[f])
        table.texts.push_back(
            {source_features_[f], false, &meanings.features[f], table_.texts[f]->unknown});
      else if (meanings.features[f].kind != ColumnMeaning::Kind::number)
        table.texts.push_back({source_features_[f], false, &meanings.features[f], 0});
    for (std::size_t s = 0; s < table_.static_texts.size(); ++s)
      if (table_.static_texts[s])
        table.texts.push_back(
            {layout_.statics[s], true, &meanings.statics[s], table_.static_texts[s]->unknown});
    table.codes = codes_found_;
    table.rows_before_times = table_.rows_before_times;
    table.repeated_headers = table_.repeated_headers;
    if (merged.joined > 0) table.first_joined = conflict_text(merged.first_joined, dataset);
    return recognised(table, dataset);
  }

  // Several series that nothing tells apart have most of their times in common.
  void check_one_series(std::size_t rows, std::size_t events,
                        const EventRows::Merged& merged) const {
    const std::size_t shared = layout_.long_form ? merged.joined : rows - events;
    if (!layout_.one_series_guessed || 10 * shared <= rows) return;
    std::string maybe;
    for (std::size_t f = 0; f < source_features_.size() && maybe.empty(); ++f)
      if (f < table_.texts.size() && table_.texts[f]) maybe = source_features_[f];
    throw Error(
        fmt::format("{}: there is no column of ids, and {} of {} rows have the time of another "
                    "one, as if there "
                    "were several series; name their column, as with {}, or give {}",
                    text_.name(), shared, rows, option("id", maybe.empty() ? "COLUMN" : maybe),
                    option("id", "none")));
  }

  // ---- rows that do not fit ----

  void write_away(RowRuns& runs) {
    take_stock(table_.rows);
    zones_differ_ |= !table_.rows.zones.empty();
    note_spans(table_.rows);
    runs.add(table_.rows, table_.ids.list(), table_.zone);
  }

  void note_spans(const EventRows& rows) {
    if (layout_.time.kind == TimeKind::number) return;
    earliest_.resize(table_.ids.list().size(), std::numeric_limits<double>::infinity());
    latest_.resize(table_.ids.list().size(), -std::numeric_limits<double>::infinity());
    for (std::size_t r = 0; r < rows.times.size(); ++r) {
      const auto series = static_cast<std::size_t>(rows.series[r]);
      earliest_[series] = std::min(earliest_[series], rows.times[r]);
      latest_[series] = std::max(latest_[series], rows.times[r]);
    }
  }

  // The options with the unit of dates, which the rows decide: those as well whose values turn out
  // to be missing, so that it does not depend on how much of the table is in memory.
  ReadOptions with_unit() const {
    ReadOptions options = options_;
    if (layout_.time.kind != TimeKind::number && options.time_unit.empty() && !options.like)
      options.time_unit = name_of(usual_unit(spans()));
    return options;
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
    const auto in_the_whole = [&](EventRows::Conflict conflict) {
      conflict.earlier = numbers[conflict.earlier];
      conflict.later = numbers[conflict.later];
      conflict.series =
          static_cast<std::int32_t>(series[static_cast<std::size_t>(conflict.series)]);
      return conflict;
    };
    if (part.joined > 0 && all.joined == 0) all.first_joined = in_the_whole(part.first_joined);
    all.joined += part.joined;
    for (const EventRows::Conflict& conflict : part.conflicts) {
      if (all.conflicts.size() == EventRows::kKeptConflicts) break;
      all.conflicts.push_back(in_the_whole(conflict));
    }
  }

  // What is wrong with a text of the column.
  static std::string mistake_text(const std::string& text, std::string_view column,
                                  const ColumnMeaning& meaning) {
    const auto leave_out = [&] { return "leave it out with " + option("ignore", column); };
    switch (meaning.mistake) {
      case ColumnMeaning::Mistake::unit:
        return fmt::format("{} is in another unit than {}; write one unit, or {}", in_quotes(text),
                           meaning.other_unit, leave_out());
      case ColumnMeaning::Mistake::decimals: {
        const auto number = read_written_number(text);
        return fmt::format("{} may be {} or {}; give {} or {}", in_quotes(text), number->with_point,
                           number->with_comma, option("decimal", "point"),
                           option("decimal", "comma"));
      }
      case ColumnMeaning::Mistake::pair:
        return fmt::format("{} holds two numbers; divide the column in two, or {}", in_quotes(text),
                           leave_out());
      case ColumnMeaning::Mistake::no_number:
        break;
    }
    return fmt::format(
        "{} is not a number; write one, or leave the cell empty if nothing is known ({} names what "
        "stands for it){}",
        in_quotes(text), option("missing"),
        meaning.mostly_texts ? "; " + option("category", column) + " where its values are names"
                             : "");
  }

  void note_mistakes(const TextColumn& texts, const ColumnMeaning& meaning,
                     std::string_view column) {
    const auto is_wrong = [&](std::int32_t text) {
      return meaning.wrong[static_cast<std::size_t>(text)] != 0;
    };
    const auto note = [&](std::int32_t text, const char* at) {
      problems_.add(
          CsvProblem::number, at, column,
          mistake_text(texts.names.list()[static_cast<std::size_t>(text)], column, meaning));
    };
    std::size_t all = 0, noted = 0;
    for (std::size_t t = 0; t < texts.count.size(); ++t)
      if (is_wrong(static_cast<std::int32_t>(t))) all += texts.count[t];
    std::vector<std::uint8_t> seen(meaning.wrong.size(), 0);
    for (std::size_t k = 0; k < texts.at.size(); ++k)
      if (is_wrong(texts.text[k])) {
        note(texts.text[k], texts.at[k]);
        seen[static_cast<std::size_t>(texts.text[k])] = 1;
        ++noted;
      }
    // Texts that first stand further below.
    for (std::size_t t = 0; t < texts.count.size() && noted < TextColumn::kKept; ++t)
      if (is_wrong(static_cast<std::int32_t>(t)) && texts.count[t] > 0 && seen[t] == 0) {
        note(static_cast<std::int32_t>(t), texts.first_at[t]);
        ++noted;
      }
    problems_.count(CsvProblem::number, all - noted);
  }

  bool known_as_numbers(const std::string& name, bool is_static) const {
    if (!options_.like) return false;
    const Reading& reading = options_.like->reading;
    const auto& names = is_static ? reading.statics : reading.features;
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  ColumnContext context_of(const std::string& name, bool is_static) const {
    ColumnContext context;
    context.known_as_numbers = known_as_numbers(name, is_static);
    if (options_.like) context.known_unit = options_.like->reading.unit_of(name);
    context.decimal = layout_.decimal;
    context.decimal_given = !options_.decimal.empty();
    context.is_missing_text = [this, name](std::string_view text) {
      return codes_.matches_text(name, text);
    };
    return context;
  }

  std::vector<ColumnMeaning> meanings_of_features(const std::vector<std::string>& features) {
    source_features_ = features;
    std::vector<ColumnMeaning> meanings(features.size());
    table_.texts.resize(features.size());
    stock_.resize(features.size());
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (!table_.texts[f]) continue;
      ColumnContext context = context_of(features[f], false);
      context.numbers = stock_[f].numbers;
      // Where points may group digits, no number with a point was counted yet.
      context.largest = stock_[f].largest;
      context.fractions = stock_[f].fractions && !layout_.points_group;
      meanings[f] = meaning_of(*table_.texts[f], context);
      if (meanings[f].kind == ColumnMeaning::Kind::mistakes)
        note_mistakes(*table_.texts[f], meanings[f],
                      layout_.long_form ? layout_.name_of(CsvColumn::value) : features[f]);
      for (std::size_t t = 0; t < meanings[f].numbers.size(); ++t) {
        if (meanings[f].truth || std::isnan(meanings[f].numbers[t])) continue;
        stock_[f].extremes.add(meanings[f].numbers[t]);
        ++stock_[f].numbers;
      }
    }
    find_sentinels(features);
    leave_out_empty(meanings);
    return meanings;
  }

  // Numbers that stand for "missing" and were not said to.
  void find_sentinels(const std::vector<std::string>& features) {
    if (!codes_.recognise()) return;
    for (std::size_t f = 0; f < features.size(); ++f)
      for (const Extremes::Sentinel& found : stock_[f].extremes.sentinels()) {
        stock_[f].codes.push_back(found.value);
        stock_[f].numbers -= std::min(stock_[f].numbers, found.cells);
        sentinels_.push_back(fmt::format("{}={}", features[f], found.value));
        codes_found_.push_back({found.value, features[f], found.cells, true});
      }
  }

  // Columns without any value, where others have some.
  void leave_out_empty(std::vector<ColumnMeaning>& meanings) const {
    const auto is_empty = [&](std::size_t f) {
      return stock_[f].numbers == 0 && (meanings[f].kind == ColumnMeaning::Kind::number) &&
             !meanings[f].truth;
    };
    const auto is_wanted = [&](std::size_t f) {
      const auto among = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), source_features_[f]) != names.end();
      };
      return among(options_.features) || (options_.like && among(options_.like->reading.features));
    };
    std::size_t left = 0;
    for (std::size_t f = 0; f < meanings.size(); ++f)
      left += !is_empty(f) && meanings[f].kind != ColumnMeaning::Kind::left_out;
    if (left == 0 || layout_.long_form) return;
    for (std::size_t f = 0; f < meanings.size(); ++f)
      if (is_empty(f) && !is_wanted(f)) {
        meanings[f].kind = ColumnMeaning::Kind::left_out;
        meanings[f].left_out = ColumnMeaning::LeftOut::empty;
      }
  }

  // Counts what the columns hold, and takes out what was said to stand for "missing".
  void take_stock(EventRows& rows) {
    for (std::size_t o = 0; o < rows.value.size(); ++o) {
      const auto f = static_cast<std::size_t>(rows.feature[o]);
      double& value = rows.value[o];
      if (std::isnan(value)) continue;
      if (f >= stock_.size()) add_stock(f);
      Stock& stock = stock_[f];
      if (!stock.said.empty() &&
          std::find(stock.said.begin(), stock.said.end(), value) != stock.said.end()) {
        note_code(value, f);
        value = kMissing;
        some_missing_ = true;
        continue;
      }
      ++stock.numbers;
      stock.fractions |= value != std::floor(value);
      stock.largest = std::max(stock.largest, std::abs(value));
      stock.extremes.add(value);
    }
  }

  void add_stock(std::size_t feature) {
    const std::vector<std::string>& names =
        layout_.long_form ? table_.features.list() : layout_.features;
    for (std::size_t f = stock_.size(); f <= feature; ++f)
      stock_.emplace_back().said = codes_.numbers(names[f]);
  }

  void note_code(double value, std::size_t feature) {
    const std::string& name =
        (layout_.long_form ? table_.features.list() : layout_.features)[feature];
    for (auto& code : codes_found_)
      if (code.value == value && code.column == name) {
        ++code.cells;
        return;
      }
    codes_found_.push_back({value, name, 1, false});
  }

  // Texts that are numbers become numbers, and codes for "missing" what they mean.
  void settle(EventRows& rows, const Meanings& meanings) {
    bool any = false;
    for (std::size_t f = 0; f < meanings.features.size(); ++f)
      any |= !meanings.features[f].numbers.empty() || !stock_[f].codes.empty();
    if (!any) return;
    for (std::size_t o = 0; o < rows.value.size(); ++o) {
      const auto f = static_cast<std::size_t>(rows.feature[o]);
      const std::vector<double>& codes = stock_[f].codes;
      double& value = rows.value[o];
      value = as_number(value, meanings.features[f]);
      if (!codes.empty() && std::find(codes.begin(), codes.end(), value) != codes.end())
        value = kMissing;
      some_missing_ |= is_missing(value);
    }
  }

  std::vector<ColumnMeaning> meanings_of_statics() {
    const std::size_t statics = layout_.statics.size();
    std::vector<ColumnMeaning> meanings(statics);
    for (std::size_t s = 0; s < statics; ++s) {
      const std::string column = layout_.static_column(s);
      const std::vector<double> codes = codes_.numbers(column);
      std::size_t numbers = 0;
      bool fractions = false;
      for (std::size_t k = s; k < table_.static_values.size(); k += statics) {
        double& value = table_.static_values[k];
        if (std::find(codes.begin(), codes.end(), value) != codes.end()) value = kMissing;
        numbers += !std::isnan(value);
        fractions |= !std::isnan(value) && value != std::floor(value);
      }
      if (!table_.static_texts[s]) continue;
      ColumnContext context = context_of(column, true);
      context.known_as_numbers &= numbers > 0;
      context.numbers = numbers;
      context.fractions = fractions;
      meanings[s] = meaning_of(*table_.static_texts[s], context);
      if (meanings[s].kind == ColumnMeaning::Kind::mistakes)
        note_mistakes(*table_.static_texts[s], meanings[s], column);
      for (std::size_t k = s; k < table_.static_values.size(); k += statics)
        table_.static_values[k] = as_number(table_.static_values[k], meanings[s]);
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
    reading.duplicates = duplicates().empty() ? "mean" : duplicates();
    reading.clock = layout_.name_of(CsvColumn::clock);
    reading.variable = layout_.name_of(CsvColumn::feature_name);
    reading.value = layout_.name_of(CsvColumn::value);
    reading.missing = missing_;
    for (const std::string& code : sentinels_)
      if (std::find(missing_.begin(), missing_.end(), code) == missing_.end())
        reading.missing.push_back(code);
    for (std::size_t f = 0; f < features.size(); ++f)
      if (!meanings[f].unit.empty())
        reading.units.push_back({features[f], meanings[f].unit});
      else if (f < table_.unit_of.size() && table_.unit_of[f] != Dataset::kNone)
        reading.units.push_back(
            {features[f], table_.units.list()[static_cast<std::size_t>(table_.unit_of[f])]});
    const auto add = [&](const std::string& column, bool is_static, const ColumnMeaning& meaning) {
      if (meaning.kind == ColumnMeaning::Kind::categories)
        reading.categories.push_back({column, is_static, meaning.categories});
    };
    for (std::size_t f = 0; f < features.size(); ++f) add(features[f], false, meanings[f]);
    for (std::size_t s = 0; s < layout_.statics.size(); ++s) {
      reading.statics.push_back(layout_.static_column(s));
      add(layout_.static_column(s), true, static_meanings[s]);
    }
  }

  // ---- the end ----

  std::string duplicates() const {
    return options_.duplicates.empty() && options_.like ? options_.like->reading.duplicates
                                                        : options_.duplicates;
  }

  // "id 'a' has 5 and 1".
  std::string conflict_text(const EventRows::Conflict& conflict, const Dataset& dataset) const {
    return fmt::format("'{}' of id {} is {} and {}",
                       source_features_[static_cast<std::size_t>(conflict.feature)],
                       in_quotes(dataset.ids[static_cast<std::size_t>(conflict.series)]),
                       value_text(conflict.feature, conflict.first),
                       value_text(conflict.feature, conflict.second));
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
    CsvProblems known(text_);
    const std::unique_ptr<CsvRows> again = csv_rows(text_, layout_, options_, known);
    again->keep_within(0, [&] { again->table.rows.clear(); });  // they are only counted
    const char* p = layout_.rows;
    for (const std::size_t row : wanted) places.push_back(again->read_to(p, row));
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
              "{}, first or last",
              in_quotes(ids[static_cast<std::size_t>(conflict.series)]),
              value_text(conflict.feature, conflict.second),
              value_text(conflict.feature, conflict.first), text_.line_of(place(conflict.earlier)),
              coarse(conflict.time), option("duplicates", "mean")));
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
    return in_quotes(table_.texts[static_cast<std::size_t>(feature)]
                         ->names.list()[static_cast<std::size_t>(text_of(value))]);
  }

  // A label names a class. Many different numbers are a quantity.
  void check_labels() const {
    constexpr std::size_t kMostNumbers = 20;
    const std::vector<std::string>& names = table_.classes.list();
    bool whole = true;
    for (const std::string& name : names) {
      const auto number = finite_number(name);
      if (!number) return;
      whole &= *number == std::floor(*number);
    }
    if (names.empty() || (whole && names.size() <= kMostNumbers)) return;
    throw Error(fmt::format(
        "{}: column '{}': {}, which looks like a quantity and not like classes; make a few classes "
        "of it, choose another column with {}, or leave it out with {}",
        text_.name(), layout_.name_of(CsvColumn::label),
        whole ? fmt::format("{} different numbers", names.size())
              : fmt::format("numbers that are not whole, as {}",
                            *std::find_if(names.begin(), names.end(),
                                          [](const std::string& name) {
                                            const double number = *finite_number(name);
                                            return number != std::floor(number);
                                          })),
        option("label"), option("label", "none")));
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
  const CsvLayout& layout_;
  CsvProblems problems_;
  const std::unique_ptr<CsvRows> rows_ = csv_rows(text_, layout_, options_, problems_);
  CsvTable& table_ = rows_->table;
  std::vector<std::string> source_features_;

  // Of each feature.
  struct Stock {
    std::size_t numbers = 0;  // cells that hold one
    bool fractions = false;   // some of them with decimals
    double largest = 0;       // the greatest amount of them
    Extremes extremes;
    std::vector<double> said, codes;  // that stand for "missing": said to, and found
  };
  std::vector<Stock> stock_;
  const std::vector<std::string> missing_ =
      options_.missing.empty() && options_.like ? options_.like->reading.missing : options_.missing;
  const MissingCodes codes_{missing_};
  std::vector<std::string> sentinels_;  // as --missing would say them
  std::vector<RecognisedTable::Code> codes_found_;
  bool some_missing_ = false;

  bool zones_differ_ = false;              // of rows that were written away
  std::vector<double> earliest_, latest_;  // of each series, raw
};

// use(reader), where need be with the text in another encoding.
template <class Use>
auto read(CsvText text, const ReadOptions& options, const Use& use) {
  for (;;) {
    try {
      const CsvLayout layout = read_csv_layout(text, options);
      return use(CsvReader(text, layout, options));
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
