#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text/counted.h"
#include "data/read/cells/written_number.h"
#include "data/read/columns/column_choice.h"
#include "data/read/csv/rows/csv_row_reader.h"

namespace edict {
namespace {

std::size_t place_of_value(const CsvLayout& layout) {
  return static_cast<std::size_t>(
      std::find_if(layout.columns.begin(), layout.columns.end(),
                   [](const auto& c) { return c.kind == ColumnKind::value; }) -
      layout.columns.begin());
}

MissingCodes codes_of(const ReadOptions& options) {
  return MissingCodes(options.missing.empty() && options.like ? options.like->reading.missing
                                                              : options.missing);
}

}  // namespace

CsvRowReader::CsvRowReader(const CsvText& text, const CsvLayout& layout, const ReadOptions& options,
                           CsvProblems& problems)
    : has_clock_(!layout.name_of(ColumnKind::clock).empty()),
      text_(text),
      options_(options),
      layout_(layout),
      problems_(problems),
      codes_(codes_of(options)),
      style_(layout_.time.style ? &*layout_.time.style : nullptr),
      value_column_(place_of_value(layout)) {
  if (!layout_.long_form) table.texts.resize(layout_.features.size());
  table.static_texts.resize(layout_.statics.size());
  for (std::size_t c = 0; c < layout_.columns.size(); ++c) {
    CsvLayout::Column& column = layout_.columns[c];
    const auto index = static_cast<std::size_t>(column.index);
    if (column.kind == ColumnKind::feature || column.kind == ColumnKind::category) {
      prepare_texts(table.texts, index, layout_.names[c], false);
      if (table.texts[index] && table.texts[index]->all_names) column.kind = ColumnKind::category;
    } else if (column.kind == ColumnKind::static_covariate) {
      prepare_texts(table.static_texts, index, layout_.names[c], true);
    }
  }
  layout_.count_runs();
}

void CsvRowReader::begin_row() {
  time_was_wrong_ = name_was_long_ = false;
  row_texts_.clear();
  problems_.begin_row();
}

void CsvRowReader::forget(std::size_t observed) {
  table.rows.feature.resize(observed);
  table.rows.value.resize(observed);
  row_statics_.clear();
}

void CsvRowReader::note_no_id(const char* row) {
  if (name_was_long_) return;
  problems_.add(CsvProblem::no_id, row, layout_.name_of(ColumnKind::id),
                "it is empty; give every row an id");
}

void CsvRowReader::note_ragged(const char* row, std::size_t found) {
  // Its cells may stand under the wrong names, so what they hold is no further mistake.
  for (TextColumn* texts : row_texts_) texts->take_back(row);
  problems_.drop_row(row);
  problems_.add(CsvProblem::cells, row, {},
                fmt::format("{} where the header has {}; add or remove cells",
                            counted(found, "cell"), layout_.columns.size()));
}

void CsvRowReader::note_quote(const char* at, std::string_view reason) {
  problems_.add(CsvProblem::quote, at, {}, reason);
}

void CsvRowReader::note_no_time(const char* at) {
  problems_.add(CsvProblem::no_time, at, layout_.name_of(ColumnKind::time),
                "it is empty in a row with values; give the time of the observation, or name "
                "columns of one value a series with " +
                    option("static"));
}

void CsvRowReader::note_without_time(const char* row, const char* time_at) {
  if (time_was_wrong_) return;
  if (layout_.time.kind != TimeKind::date || any_time_) return note_no_time(time_at);
  if (++table.rows_before_times == 1) first_without_time_ = time_at;
  for (TextColumn* texts : row_texts_) texts->take_back(row);
}

// ---- long form ----

bool CsvRowReader::finish_long_row(const char* row, std::int32_t feature, const char* value_at) {
  const std::size_t observed = table.rows.value.size();
  if (feature != Dataset::kNone) check_feature(row, feature);
  if (observed == 0 || table.rows.feature.back() != Dataset::kNone) return true;  // without a value
  const bool number = !std::isnan(table.rows.value.back());
  const CsvCell cell = number ? CsvCell{} : text_.read_cell(value_at, scratch_);
  if (feature == Dataset::kNone) {
    forget(observed - 1);
    if (!number && spells_unknown(cell.text)) return true;
    problems_.add(CsvProblem::feature, row, layout_.name_of(ColumnKind::feature_name),
                  "it is empty beside a value; name the feature that was observed");
    return false;
  }
  const auto index = static_cast<std::size_t>(feature);
  table.rows.feature.back() = feature;
  double& value = table.rows.value.back();
  const bool name =
      index < table.texts.size() && table.texts[index] && table.texts[index]->all_names;
  if (!name && number) return true;
  if (name)
    value = category_of(number ? text_.read_cell(value_at, scratch_) : cell, value_column_,
                        *table.texts[index]);
  else
    value = value_of(cell, value_column_, table.texts, index);
  if (!is_missing(value)) return true;
  forget(observed - 1);
  return false;
}

void CsvRowReader::check_unit(const char* row, std::size_t feature, std::int32_t unit) {
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
  if (before.empty() || same_unit(lower(before), lower(now))) return;
  const std::string column = layout_.name_of(ColumnKind::unit);
  problems_.add(CsvProblem::unit, row, column,
                fmt::format("'{}' is in {} here and in {} before; write one unit, or leave the "
                            "column out with {}",
                            name, now, before, option("ignore", column)));
}

// The first time that a feature is named.
void CsvRowReader::check_feature(const char* row, std::int32_t feature) {
  if (feature < features_checked_) return;
  ++features_checked_;
  const std::string& name = table.features.list()[static_cast<std::size_t>(feature)];
  if (!valid_feature_name(name))
    problems_.add(CsvProblem::feature, row, layout_.name_of(ColumnKind::feature_name),
                  in_quotes(name) +
                      " cannot name a feature; rename it (not id, time, label, group or "
                      "static:…)");
  const auto index = static_cast<std::size_t>(feature);
  table.texts.resize(std::max(table.texts.size(), index + 1));
  prepare_texts(table.texts, index, name, false);
}

// ---- series ----

void CsvRowReader::describe(const char* row, std::size_t series, std::int32_t label,
                            std::int32_t group) {
  row_statics_.resize(layout_.statics.size(), kMissing);
  // A row that was refused may have brought the id first.
  while (table.labels.size() <= series) {
    table.labels.push_back(Dataset::kNone);
    table.group_of.push_back(Dataset::kNone);
    table.static_values.resize(table.static_values.size() + row_statics_.size(), kMissing);
  }
  const auto changes = [&](ColumnKind kind, const std::string& column) {
    problems_.add(CsvProblem::changed, row, column.empty() ? layout_.name_of(kind) : column,
                  fmt::format("it changes within id {}; give one value for the whole series",
                              in_quotes(table.ids.list()[series])));
  };
  const auto take_once = [&](std::int32_t& known, std::int32_t now, ColumnKind kind) {
    if (now == Dataset::kNone || now == known) return;
    if (known != Dataset::kNone) return changes(kind, {});
    known = now;
  };
  take_once(table.labels[series], label, ColumnKind::label);
  take_once(table.group_of[series], group, ColumnKind::group);
  for (std::size_t s = 0; s < row_statics_.size(); ++s) {
    double& known = table.static_values[series * row_statics_.size() + s];
    if (is_missing(row_statics_[s]) || same_value(known, row_statics_[s])) continue;
    if (!is_missing(known))
      changes(ColumnKind::static_covariate, layout_.static_column(s));
    else
      known = row_statics_[s];
  }
  row_statics_.clear();
}

// ---- texts ----

bool CsvRowReader::all_names(const std::string& column, bool is_static) const {
  return contains(layout_.categories, column) ||
         (options_.like && options_.like->reading.category(column, is_static));
}

// Where something is known of a column's texts before any is read.
void CsvRowReader::prepare_texts(Texts& texts, std::size_t index, const std::string& column,
                                 bool is_static) {
  const bool keeps_words = contains(layout_.kept_words, column);
  const bool names = all_names(column, is_static);
  if (!names && !keeps_words) return;
  texts[index] = std::make_unique<TextColumn>();
  TextColumn& own = *texts[index];
  own.all_names = names;
  own.keeps_words = true;
  const CategoryColumn* known =
      options_.like ? options_.like->reading.category(column, is_static) : nullptr;
  if (!known) return;
  for (const std::string& value : known->values) own.names.index_of(value);
  own.known = own.names.list().size();
}

}  // namespace edict
