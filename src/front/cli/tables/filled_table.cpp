#include "front/cli/tables/filled_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/text/lower_case.h"
#include "base/text/number_text.h"
#include "data/read/cells/text_values.h"
#include "data/read/cells/written_number.h"
#include "data/read/csv/csv.h"
#include "data/read/csv/csv_names.h"

namespace edict::cli {
namespace {

constexpr double kNever = std::numeric_limits<double>::quiet_NaN();

// Whether the reader takes the cell as missing in every column.
bool is_empty(std::string_view cell) { return spells_unknown(cell) || says_missing(cell); }

bool is_feature(ColumnKind kind) {
  return kind == ColumnKind::feature || kind == ColumnKind::category;
}

}  // namespace

void check_new_column(const std::string& name, const std::vector<std::string>& columns) {
  if (std::ranges::find(columns, name) != columns.end())
    throw Error(fmt::format(
        "--deviations: the table already has a column '{}'; rename it, or leave the option out",
        name));
}

FilledTable::FilledTable(CsvOriginal table, const Model& model, const Dataset& data,
                         const std::vector<std::size_t>& features, bool deviations,
                         RowFormat format, const Shard& shard)
    : table_(std::move(table)),
      data_(data),
      deviations_(deviations),
      format_(format),
      shard_(shard),
      codes_(data.reading.missing),
      rows_of_(data.size()) {
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < data.size(); ++i) place.emplace(data.ids[i], i);
  for (const CsvPlace& row : table_.rows) {
    const std::size_t series = place.at(table_.ids[static_cast<std::size_t>(row.series)]);
    rows_of_[series].push_back(series_.size());
    series_.push_back(series);
  }
  choose(model, features);
  look_at_cells();
  name_deviations();
}

// ---- what is filled ----

void FilledTable::choose(const Model& model, const std::vector<std::size_t>& features) {
  for (const std::size_t j : features) {
    const std::string& name = model.features[j];
    const auto category = std::ranges::find_if(data_.reading.categories, [&](const auto& c) {
      return !c.is_static && name.starts_with(c.column + "=") &&
             std::ranges::find(c.values, name.substr(c.column.size() + 1)) != c.values.end();
    });
    const bool number = category == data_.reading.categories.end();
    const auto [entry, is_new] =
        by_name_.emplace(number ? name : category->column, fillings_.size());
    if (is_new) fillings_.emplace_back();
    Filling& filling = fillings_[entry->second];
    filling.features.push_back(j);
    if (!number) filling.categories.push_back(name.substr(category->column.size() + 1));
  }
  of_column_.assign(table_.layout.columns.size(), kNone);
  for (const auto& [name, filling] : by_name_)
    if (const std::size_t c = column_of(name); c < of_column_.size()) of_column_[c] = filling;
}

// The feature's column, whose name may be in another case where no other column could be meant.
std::size_t FilledTable::column_of(const std::string& name) const {
  const std::vector<std::string>& names = table_.layout.names;
  std::vector<std::size_t> alike;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!is_feature(table_.layout.columns[c].kind)) continue;
    if (names[c] == name) return c;
    if (in_lower_case(names[c]) == in_lower_case(name)) alike.push_back(c);
  }
  return alike.size() == 1 ? alike[0] : kNone;
}

std::size_t FilledTable::filling_of(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? kNone : found->second;
}

// visit(column, its text, the bytes of the cell).
template <class Visit>
void FilledTable::each_cell(std::size_t row, const Visit& visit) const {
  std::string scratch;
  const char* p = table_.rows[row].begin;
  for (std::size_t c = 0; c < table_.layout.columns.size(); ++c, ++p) {
    const CsvCell cell = table_.text.read_cell(p, scratch);
    visit(c, cell.text, std::string_view(cell.at, static_cast<std::size_t>(p - cell.at)));
  }
}

// In long form the row names the feature, be it behind the value.
std::string FilledTable::feature_of_row(std::size_t row) const {
  std::string name;
  if (table_.layout.long_form)
    each_cell(row, [&](std::size_t c, std::string_view text, std::string_view) {
      if (table_.layout.columns[c].kind == ColumnKind::feature_name) name = text;
    });
  return name;
}

// Whether the reader takes the cell of this feature as missing: -999 and its like as well.
bool FilledTable::is_missing(std::string_view feature, std::string_view cell) const {
  if (is_empty(cell) || codes_.matches_text(feature, cell)) return true;
  if (codes_.empty()) return false;
  const auto number = read_written_number(cell);
  if (!number) return false;
  const double value = table_.decimal_comma ? number->with_comma : number->with_point;
  return std::ranges::count(codes_.numbers(feature), value) > 0;
}

// Which rows have an empty cell to fill, and which columns hold words for true and false.
void FilledTable::look_at_cells() {
  time_.assign(rows(), kNever);
  for (std::size_t row = 0; row < rows(); ++row) {
    const std::string feature = feature_of_row(row);
    const std::size_t of_row = filling_of(feature);
    bool holes = false;
    each_cell(row, [&](std::size_t c, std::string_view text, std::string_view) {
      const bool long_form = table_.layout.columns[c].kind == ColumnKind::value;
      const std::size_t place = long_form ? of_row : of_column_[c];
      if (place == kNone) return;
      Filling& filling = fillings_[place];
      holes |= is_missing(long_form ? feature : table_.layout.names[c], text);
      const auto truth = filling.categories.empty() ? spelled_truth(text) : std::nullopt;
      if (!truth) return;
      std::string& word = *truth ? filling.yes : filling.no;
      if (word.empty()) word = text;
    });
    if (!holes) continue;
    if (std::isnan(table_.rows[row].time)) {
      ++without_time_;
      continue;
    }
    const double time = data_.time_axis.from_raw(series_[row], table_.rows[row].time);
    time_[row] = std::isnan(time) ? -std::numeric_limits<double>::infinity() : time;
  }
}

void FilledTable::name_deviations() {
  deviation_names_.assign(of_column_.size(), "");
  if (!deviations_) return;
  for (std::size_t c = 0; c < of_column_.size(); ++c) {
    const bool value = table_.layout.columns[c].kind == ColumnKind::value;
    if (!value && !(of_column_[c] != kNone && fillings_[of_column_[c]].has_deviation())) continue;
    deviation_names_[c] = table_.layout.names[c] + kDeviationSuffix;
    check_new_column(deviation_names_[c], table_.layout.names);
  }
}

std::vector<double> FilledTable::times(std::size_t series) const {
  std::vector<double> times;
  for (const std::size_t row : rows_of_[series])
    if (!std::isnan(time_[row])) times.push_back(time_[row]);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

// ---- rows ----

FilledTable::Filled FilledTable::filled(const ImputedSeries& imputed) const {
  Filled result;
  for (const std::size_t row : rows_of_[imputed.series])
    result.rows.emplace_back(row, written(row, imputed, result.cells));
  return result;
}

std::string FilledTable::written(std::size_t row, const ImputedSeries& imputed,
                                 std::size_t& cells) const {
  const bool has_time = !std::isnan(time_[row]);
  const auto time = static_cast<std::size_t>(
      std::lower_bound(imputed.times.begin(), imputed.times.end(), time_[row]) -
      imputed.times.begin());
  const std::string feature = has_time ? feature_of_row(row) : std::string();
  std::string line, deviations;
  const std::string separator(1, is_csv() ? table_.text.separator() : ',');
  each_cell(row, [&](std::size_t c, std::string_view text, std::string_view source) {
    const bool long_form = table_.layout.columns[c].kind == ColumnKind::value;
    const std::size_t filling = long_form ? filling_of(feature) : of_column_[c];
    Value value;
    const bool fill = has_time && filling != kNone &&
                      is_missing(long_form ? feature : table_.layout.names[c], text);
    if (fill) {
      value = value_of(fillings_[filling], imputed, time);
      ++cells;
    }
    if (!line.empty() || c > 0) line += separator;
    if (is_csv())
      line += fill ? value.text : std::string(source);
    else
      line += json_text(nlohmann::json(table_.layout.names[c])) + ':' +
              (fill ? value.text : json_cell(c, text));
    if (deviation_names_[c].empty()) return;
    deviations += separator;
    if (!is_csv()) deviations += json_text(nlohmann::json(deviation_names_[c])) + ':';
    deviations += !value.deviation.empty() || is_csv() ? value.deviation : "null";
  });
  line += deviations;
  if (!is_csv()) return '{' + line + "},\n";
  if (!shard_.whole()) line += fmt::format(",{}", row);
  return line + '\n';
}

FilledTable::Value FilledTable::value_of(const Filling& filling, const ImputedSeries& imputed,
                                         std::size_t time) const {
  const auto value = [&](std::size_t j) { return imputed.value[imputed.cell(time, j)]; };
  if (!filling.categories.empty()) {
    std::size_t likeliest = 0;
    for (std::size_t k = 1; k < filling.features.size(); ++k)
      if (value(filling.features[k]) > value(filling.features[likeliest])) likeliest = k;
    return {text_cell(filling.categories[likeliest]), ""};
  }
  const std::size_t j = filling.features[0];
  const bool given = imputed.observed[imputed.cell(time, j)] != 0;
  const std::string& word = value(j) >= 0.5 ? filling.yes : filling.no;
  return {word.empty() ? number(value(j), given) : text_cell(word),
          given ? "" : number(imputed.deviation[imputed.cell(time, j)], false)};
}

// ---- cells ----

std::string FilledTable::number(double value, bool given) const {
  if (!std::isfinite(value)) return is_csv() ? (value > 0 ? "inf" : "-inf") : "null";
  std::string text;
  if (given)
    append_shortest(text, value);
  else
    append_nine_digits(text, value);
  if (is_csv() && table_.decimal_comma) std::replace(text.begin(), text.end(), '.', ',');
  return text;
}

std::string FilledTable::text_cell(std::string_view text) const {
  if (!is_csv()) return json_text(nlohmann::json(std::string(text)));
  std::string cell = csv_cell(text);
  return cell == text && text.find(table_.text.separator()) != std::string_view::npos
             ? '"' + cell + '"'
             : cell;
}

// Ids, labels and groups stay texts, and so do numbers that a number would not give back.
std::string FilledTable::json_cell(std::size_t column, std::string_view text) const {
  const ColumnKind kind = table_.layout.columns[column].kind;
  if (is_empty(text)) return "null";
  const bool name = kind == ColumnKind::id || kind == ColumnKind::label ||
                    kind == ColumnKind::group || kind == ColumnKind::feature_name ||
                    kind == ColumnKind::category;
  std::string point(text);
  if (table_.decimal_comma) std::replace(point.begin(), point.end(), ',', '.');
  const auto number = name ? std::nullopt : finite_number(point);
  if (number && nlohmann::json::accept(point)) return point;
  if (number && kind != ColumnKind::ignored) {
    std::string shortest;
    append_shortest(shortest, *number);
    return shortest;
  }
  return json_text(nlohmann::json(std::string(text)));
}

std::string FilledTable::header() const {
  if (!is_csv()) return "[";
  const bool headerless = !table_.layout.given_names.empty();
  if (headerless && shard_.whole()) return {};
  std::string line(table_.header());
  for (const std::string& name : deviation_names_)
    if (!name.empty()) line += table_.text.separator() + text_cell(name);
  if (!shard_.whole()) line += "," + shard_.column();
  return line + '\n';
}

// ---- parts of it ----

void FilledRows::add(const ImputedSeries& imputed) {
  FilledTable::Filled own = table.filled(imputed);
  filled.cells += own.cells;
  std::move(own.rows.begin(), own.rows.end(), std::back_inserter(filled.rows));
}

RowsInOrder::RowsInOrder(const FilledTable& table, const std::vector<std::size_t>& series)
    : table_(table), waiting_(table.rows()) {
  chosen_.assign(table.series(), false);
  for (const std::size_t one : series) chosen_[one] = true;
}

std::string RowsInOrder::add(std::vector<std::pair<std::size_t, std::string>> rows) {
  for (auto& [row, text] : rows) waiting_[row] = std::move(text);
  std::string text;
  for (; next_ < waiting_.size(); ++next_) {
    if (!chosen_[table_.series_of(next_)]) continue;
    if (!waiting_[next_]) break;
    text += *waiting_[next_];
    waiting_[next_].reset();
    ++written_;
  }
  return text;
}

}  // namespace edict::cli
