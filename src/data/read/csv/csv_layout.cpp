#include "data/read/csv/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_set>

#include "base/error.h"
#include "base/text/utf8.h"
#include "data/read/cells/column_names.h"
#include "data/read/cells/written_number.h"
#include "data/read/csv/csv_header.h"
#include "data/read/csv/csv_names.h"
#include "data/read/csv/csv_sample.h"
#include "data/read/read_options.h"

namespace edict {
namespace {

constexpr std::string_view kStatic = "static:";
constexpr std::string_view kNobody = "none";

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> read_names(const CsvText& text, const char*& p, const CsvLimits& limits) {
  const char* header = p;
  std::vector<std::string> names;
  std::string scratch;
  std::unordered_set<std::string> seen;
  for (;; ++p) {
    const CsvCell cell = text.read_cell(p, scratch);
    std::string name(cell.text.substr(0, limits.text));
    if (names.size() == limits.columns)
      text.fail(header, fmt::format("more than {} columns; use the long form", limits.columns));
    if (cell.text.size() > limits.text)
      text.fail(cell.at, fmt::format("column {}: its name is longer than {} bytes; shorten it",
                                     names.size() + 1, limits.text));
    if (!valid_utf8(cell.text)) throw CsvNotUtf8{};
    const std::string_view source(cell.at, static_cast<std::size_t>(p - cell.at));
    const bool quoted = source.substr(std::min(source.find_first_not_of(" \t"), source.size()))
                            .starts_with('"');  // where anything may be part of a name
    if (!quoted && name.find('\r') != std::string::npos)
      text.fail(cell.at,
                "a carriage return without line feed; save with Unix or Windows line ends");
    if (!name.empty() && !seen.insert(name).second)
      text.fail(cell.at, name, "the name appears twice; rename or remove one of them");
    names.push_back(std::move(name));
    if (*p != text.separator()) break;
  }
  p = CsvText::next_line(p);
  return names;
}

class Chooser {
 public:
  Chooser(const CsvText& text, const char* header, const CsvSample& sample,
          const ReadOptions& options, CsvLayout& layout)
      : text_(text), header_(header), sample_(sample), options_(options), layout_(layout) {
    layout.columns.assign(layout.names.size(), {CsvColumn::ignored, 0, 0});
    for (const std::string& name : layout.names) squeezed_.push_back(squeezed(name));
  }

  void choose() {
    refuse_days_as_columns();
    const std::size_t time = choose_columns_of_rows();
    choose_named(options_.label, known([](const Reading& r) { return r.label; }), "label",
                 CsvColumn::label);
    choose_named(options_.group, known([](const Reading& r) { return r.group; }), "group",
                 CsvColumn::group);
    choose_statics();
    if (layout_.long_form || choose_exact_long_form())
      ignore_the_rest();
    else
      choose_features();
    choose_time_form(time);
    check_columns_of_missing();
    check_categories();
    layout_.count_runs();
  }

 private:
  template <class Member>
  std::string known(Member member) const {
    return options_.like ? std::string(member(options_.like->reading)) : std::string();
  }
  bool free(std::size_t column) const {
    return layout_.columns[column].kind == CsvColumn::ignored && !taken_[column];
  }
  void take(std::size_t column, CsvColumn kind, std::size_t index = 0) {
    layout_.columns[column] = {kind, static_cast<std::int32_t>(index), 0};
    taken_[column] = true;
  }
  std::optional<std::size_t> find(std::string_view name) const {
    const auto exact = std::find(layout_.names.begin(), layout_.names.end(), name);
    if (exact != layout_.names.end())
      return static_cast<std::size_t>(exact - layout_.names.begin());
    std::optional<std::size_t> alike;  // in another case, where no other name could be meant
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (lower(layout_.names[c]) == lower(name)) {
        if (alike) return std::nullopt;
        alike = c;
      }
    return alike;
  }
  std::optional<std::size_t> find_in_any_case(std::string_view name) const {
    if (const auto column = find(name)) return column;
    const std::string wanted = lower(name);
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (lower(layout_.names[c]) == wanted) return c;
    return std::nullopt;
  }
  // Somebody named it, so it must be there; lower and upper case may differ.
  std::size_t demand(std::string_view name, std::string_view by) const {
    if (const auto column = find_in_any_case(name)) return *column;
    text_.fail(header_, fmt::format("{}: there is no column '{}'; it has {}", option(by), name,
                                    quoted_list(layout_.names)));
  }
  std::optional<std::size_t> find_usual(ColumnRole role) const {
    for (const std::string_view name : usual_names(role))
      for (std::size_t c = 0; c < layout_.names.size(); ++c)
        if (squeezed_[c] == name && free(c)) return c;
    return std::nullopt;
  }
  std::optional<std::size_t> find_free(std::string_view name) const {
    const auto column = find(name);
    return column && free(*column) ? column : std::nullopt;
  }
  template <class Is>
  std::optional<std::size_t> find_by_cells(Is is) const {
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (free(c) && !layout_.names[c].starts_with(kStatic) && is(sample_[c])) return c;
    return std::nullopt;
  }

  // Id, time and, of the long form, variable and value; returns the place of the time.
  std::size_t choose_columns_of_rows() {
    taken_.assign(layout_.names.size(), false);
    // What was named first, so that guessing does not take it.
    for (const auto& [name, by] :
         {std::pair(&options_.label, "label"), std::pair(&options_.group, "group"),
          std::pair(&options_.variable, "variable"), std::pair(&options_.value, "value")})
      if (!name->empty() && *name != kNobody) taken_[demand(*name, by)] = true;
    for (const std::string& name : options_.statics) taken_[demand(name, "static")] = true;
    for (const std::string& name : options_.features) taken_[demand(name, "features")] = true;
    for (const std::string& name : options_.ignored) taken_[demand(name, "ignore")] = true;

    std::optional<std::size_t> time = named_time();
    if (time) taken_[*time] = true;
    const std::optional<std::size_t> id = named_id();
    if (id && time && *id == *time)
      text_.fail(header_, layout_.names[*id], "is to be both id and time; name them apart");
    if (id) take(*id, CsvColumn::id);
    refuse_divided_date(time);
    choose_long_form();
    leave_out_row_index();
    if (!time) time = time_by_dates();
    if (!id && !layout_.one_series) choose_id_by_place(time);
    if (!time) refuse_clocks_alone();
    if (!time) time = time_by_numbers();
    if (!time)
      text_.fail(header_,
                 fmt::format("column 'time': it is missing; name it with {}, or add it to the "
                             "header (found {})",
                             option("time"), quoted_list(layout_.names)));
    choose_clock(*time);
    take(*time, CsvColumn::time);
    return *time;
  }

  std::optional<std::size_t> named_time() {
    const std::string known_time = known([](const Reading& r) { return r.time; });
    const std::string known_clock = known([](const Reading& r) { return r.clock; });
    if (!options_.time.empty()) {
      const std::size_t comma = options_.time.find(',');
      if (comma == std::string::npos || find_in_any_case(options_.time))
        return demand(options_.time, "time");
      take(demand(options_.time.substr(comma + 1), "time"), CsvColumn::clock);
      return demand(options_.time.substr(0, comma), "time");
    }
    if (const auto found = find_free(known_time); found && !known_time.empty()) {
      if (const auto clock = find_free(known_clock); clock && !known_clock.empty())
        take(*clock, CsvColumn::clock);
      return found;
    }
    if (const auto found = find_free("time")) return found;
    return find_usual(ColumnRole::time);
  }

  std::optional<std::size_t> named_id() {
    const std::string known_id = known([](const Reading& r) { return r.id; });
    if (options_.id == kNobody) {
      layout_.one_series = true;
      return std::nullopt;
    }
    if (!options_.id.empty()) return demand(options_.id, "id");
    if (const auto found = find_free(known_id); found && !known_id.empty()) return found;
    if (const auto found = find_free("id")) return found;
    const auto usual = find_usual(ColumnRole::id);
    if (!usual && known_id == kNobody) layout_.one_series = true;
    return usual;
  }

  // The first column, unless that holds times or measurements. Then nothing tells series apart; the
  // rows will show whether there are several (CsvReader).
  void choose_id_by_place(std::optional<std::size_t> time) {
    std::size_t first = 0;
    while (first < layout_.names.size() && (layout_.names[first].empty() || is_row_index_[first]))
      ++first;
    const bool known_id = options_.like.has_value();
    const bool is_free = first < layout_.names.size() && free(first) && first != time;
    if (first == layout_.names.size() || (known_id && !is_free))
      text_.fail(header_,
                 fmt::format("column 'id': it is missing; name it with {}, or give "
                             "{} where the table is one series (found {})",
                             option("id"), option("id", kNobody), quoted_list(layout_.names)));
    if (is_free && may_be_ids(sample_[first])) return take(first, CsvColumn::id);
    layout_.one_series = layout_.one_series_guessed = true;
  }

  static bool may_be_ids(std::span<const std::string> cells) {
    constexpr std::size_t kFew = 3;
    const std::unordered_set<std::string_view> different(cells.begin(), cells.end());
    const auto whole = [](const std::string& cell) {
      const auto number = number_with_comma(cell);
      return !number || *number == std::floor(*number);
    };
    return !all_dates(cells) && !all_clocks(cells) &&
           std::all_of(cells.begin(), cells.end(), whole) &&
           (cells.size() <= kFew || different.size() < cells.size());
  }

  std::optional<std::size_t> time_by_dates() const {
    const auto with_clock =
        find_by_cells([](auto cells) { return all_dates(cells) && !all_days(cells); });
    if (with_clock) return with_clock;
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (free(c) && !names_birth(layout_.names[c]) && all_dates(sample_[c])) return c;
    return std::nullopt;
  }

  std::optional<std::size_t> time_by_numbers() const {
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (free(c) && !layout_.names[c].empty() && !layout_.names[c].starts_with(kStatic) &&
          all_numbers(sample_[c]))
        return c;
    return std::nullopt;
  }

  // A column of clocks that no dates stand beside is likelier the time than the first of numbers.
  void refuse_clocks_alone() const {
    const auto clock = find_by_cells([](auto cells) { return all_clocks(cells); });
    if (clock)
      text_.fail(header_, layout_.names[*clock],
                 "it holds times of day and no column their dates; give dates, or numbers that "
                 "count from a start, or name the column of times with " +
                     option("time"));
  }

  // Date and time of day in two columns. `time` becomes that of the date.
  void choose_clock(std::size_t& time) {
    if (!options_.time.empty() || !layout_.name_of(CsvColumn::clock).empty()) return;
    if (all_clocks(sample_[time])) {
      // 01.03.24 may be a day as well, and is one unless days stand beside a column of clocks.
      const bool maybe_days = all_days(sample_[time]);
      const auto date = find_by_cells(
          [&](auto cells) { return all_days(cells) && !(maybe_days && all_clocks(cells)); });
      const bool is_clock = date && !names_birth(layout_.names[*date]) &&
                            has_usual_name(layout_.names[time], ColumnRole::clock);
      if (maybe_days && !is_clock) return;
      if (!date)
        text_.fail(header_, layout_.names[time],
                   "it holds times of day and no column their dates; give dates, or numbers that "
                   "count from a start");
      take(time, CsvColumn::clock);
      time = *date;
    } else if (all_days(sample_[time])) {
      for (std::size_t c = 0; c < layout_.names.size(); ++c)
        if (free(c) && c != time && has_usual_name(layout_.names[c], ColumnRole::clock) &&
            (all_clocks(sample_[c]) || all_hours(sample_[c])))
          return take(c, CsvColumn::clock);
    }
  }

  static bool all_hours(std::span<const std::string> cells) {
    return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
      const auto number = finite_number(cell);
      return number && *number >= 0 && *number <= 24 && *number == std::floor(*number);
    });
  }

  // Numbers that are no Unix time and no dates of digits.
  bool counts_like_hours(std::size_t column) const {
    constexpr double kLargest = 1e7;
    const auto cells = sample_[column];
    return !cells.empty() && std::ranges::all_of(cells, [](const std::string& cell) {
      const auto number = number_with_comma(cell);
      return number && std::abs(*number) < kLargest;
    });
  }

  // A row a feature and a column a day.
  void refuse_days_as_columns() const {
    const auto days = std::ranges::count_if(
        layout_.names, [](const std::string& name) { return parse_date(name).has_value(); });
    if (days > 1)
      text_.fail(header_,
                 fmt::format("{} columns are called by dates; turn the table, so that each row "
                             "is one moment",
                             days));
  }

  // Year, month, day and hour each in a column of its own.
  void refuse_divided_date(std::optional<std::size_t> time) const {
    if (!options_.time.empty() || options_.like) return;
    std::vector<std::string> parts;
    for (const char* part : {"year", "month", "day", "hour", "jahr", "monat", "tag", "stunde"})
      for (std::size_t c = 0; c < layout_.names.size(); ++c)
        if (squeezed_[c] == part) parts.push_back(layout_.names[c]);
    if (parts.size() < 3) return;
    // Beside times of their own they say the same again; a column 't' of numbers may be a
    // temperature.
    if (time && !contains(parts, layout_.names[*time]) && !counts_like_hours(*time)) return;
    text_.fail(header_, fmt::format("the date is divided among {}; join them into one column, as "
                                    "2024-03-01 12:00, or name the times with {}",
                                    quoted_list(parts), option("time")));
  }

  void leave_out_row_index() {
    is_row_index_.assign(layout_.names.size(), false);
    bool first = true;
    for (std::size_t c = 0; c < layout_.names.size(); ++c) {
      const bool named = !layout_.names[c].empty();
      if (free(c) && names_rows(layout_.names[c], first) && all_running(sample_[c])) {
        is_row_index_[c] = true;
        layout_.row_index.push_back(layout_.names[c]);
        taken_[c] = true;
      }
      first &= !named;
    }
  }

  void choose_named(const std::string& given, const std::string& from_model, std::string_view usual,
                    CsvColumn kind) {
    std::optional<std::size_t> column;
    if (given == kNobody) {
      // It may still be called so; then it is not to be a feature either.
      if (const auto named = find(usual); named && free(*named)) take(*named, CsvColumn::ignored);
      return;
    }
    if (!given.empty())
      column = demand(given, usual);
    else if (!from_model.empty() && find(from_model))
      column = find(from_model);
    else
      for (std::size_t c = 0; c < layout_.names.size() && !column; ++c)
        if (free(c) && lower(layout_.names[c]) == usual) column = c;
    if (!column) return;
    if (layout_.columns[*column].kind != CsvColumn::ignored)
      text_.fail(header_, layout_.names[*column], "is named for two purposes; name them apart");
    take(*column, kind);
  }

  void choose_statics() {
    const auto add = [&](std::size_t column, std::string name) {
      if (layout_.columns[column].kind != CsvColumn::ignored)
        text_.fail(header_, layout_.names[column], "is named for two purposes; name them apart");
      if (contains(layout_.statics, name))
        text_.fail(header_, layout_.names[column], "the covariate is there twice; rename one");
      take(column, CsvColumn::static_covariate, layout_.statics.size());
      layout_.statics.push_back(std::move(name));
    };
    const auto bare = [](const std::string& name) {
      return name.starts_with(kStatic) ? name.substr(kStatic.size()) : name;
    };
    std::vector<bool> wanted(layout_.names.size(), false);
    for (const std::string& name : options_.statics) wanted[demand(name, "static")] = true;
    if (options_.statics.empty() && options_.like)
      for (const std::string& name : options_.like->reading.statics)
        if (const auto column = find(name); column && free(*column)) wanted[*column] = true;
    for (std::size_t c = 0; c < layout_.names.size(); ++c) {
      const std::string& name = layout_.names[c];
      if (name == kStatic)
        text_.fail(header_, name, "the covariate has no name; write static:<name>");
      if (wanted[c] || (free(c) && name.starts_with(kStatic))) add(c, bare(name));
    }
  }

  // Two columns that are called as in long form, or are said to be. Beside others the first of them
  // has to hold names.
  void choose_long_form() {
    if (options_.variable == kNobody) return;
    std::optional<std::size_t> variable, value;
    const auto choose_one = [&](const std::string& given, const std::string& from_model,
                                const char* by, ColumnRole role) {
      if (!given.empty()) return std::optional(demand(given, by));
      if (const auto found = find_free(from_model); found && !from_model.empty()) return found;
      return find_usual(role);
    };
    variable = choose_one(options_.variable, known([](const Reading& r) { return r.variable; }),
                          "variable", ColumnRole::variable);
    value = choose_one(options_.value, known([](const Reading& r) { return r.value; }), "value",
                       ColumnRole::value);
    const bool said = !options_.variable.empty() || !options_.value.empty();
    if (said && (!variable || !value || *variable == *value))
      text_.fail(header_,
                 fmt::format("long form: give both {} and {} (found {})", option("variable"),
                             option("value"), quoted_list(layout_.names)));
    if (!variable || !value || *variable == *value) return;
    if (!said && (all_numbers(sample_[*variable]) || sample_[*variable].empty()) &&
        !names_items(layout_.names[*variable]))
      return;
    // Home Assistant's; elsewhere a state is one of several columns.
    if (!said && squeezed(layout_.names[*value]) == "state" &&
        squeezed(layout_.names[*variable]) != "entityid")
      return;
    take(*variable, CsvColumn::feature_name);
    take(*value, CsvColumn::value);
    layout_.long_form = true;
  }

  // Exactly two columns are left, and they are called as in long form.
  bool choose_exact_long_form() {
    std::vector<std::size_t> left;
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if ((free(c) || is_named_feature(c)) && !layout_.names[c].empty()) left.push_back(c);
    if (left.size() != 2 || options_.variable == kNobody) return false;
    if (is_long_form(layout_.names[left[1]], layout_.names[left[0]])) std::swap(left[0], left[1]);
    if (!is_long_form(layout_.names[left[0]], layout_.names[left[1]])) return false;
    take(left[0], CsvColumn::feature_name);
    take(left[1], CsvColumn::value);
    layout_.long_form = true;
    return true;
  }

  void ignore_the_rest() {
    if (const auto unit = find_usual(ColumnRole::unit); unit && !all_numbers(sample_[*unit]))
      take(*unit, CsvColumn::unit);
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (layout_.columns[c].kind == CsvColumn::ignored && !is_said_to_be_nothing(c))
        layout_.ignored.push_back(layout_.names[c]);
  }

  // By --ignore, or because it counts the rows.
  bool is_said_to_be_nothing(std::size_t column) const {
    return is_row_index_[column] || contains(options_.ignored, layout_.names[column]);
  }

  // --missing COLUMN=-999; a text with a "=" in it is a text.
  void check_columns_of_missing() const {
    if (layout_.long_form) return;  // rows name the features
    for (const std::string& code : options_.missing)
      if (const std::size_t equals = code.rfind('='); equals != std::string::npos && equals > 0)
        if (finite_number(std::string_view(code).substr(equals + 1)))
          demand(code.substr(0, equals), "missing");
  }

  void check_categories() const {
    if (layout_.long_form) return;
    for (const std::string& name : options_.categories)
      if (!find_in_any_case(std::string(kStatic) + name)) demand(name, "category");
  }

  bool is_named_feature(std::size_t column) const {
    return layout_.columns[column].kind == CsvColumn::ignored &&
           contains(options_.features, layout_.names[column]);
  }

  void choose_features() {
    std::vector<bool> wanted(layout_.names.size(), false);
    bool restricted = !options_.features.empty();
    for (const std::string& name : options_.features) {
      const std::size_t column = demand(name, "features");
      if (layout_.columns[column].kind != CsvColumn::ignored)
        text_.fail(header_, layout_.names[column], "is named for two purposes; name them apart");
      wanted[column] = true;
    }
    if (!restricted && options_.like)
      for (const std::string& name : options_.like->reading.features)
        if (const auto column = find(name); column && free(*column))
          restricted = wanted[*column] = true;
    for (std::size_t c = 0; c < layout_.names.size(); ++c) {
      if (layout_.columns[c].kind != CsvColumn::ignored) continue;
      const bool feature = restricted ? wanted[c] : free(c) && !layout_.names[c].empty();
      if (!feature) {
        if (!is_said_to_be_nothing(c)) layout_.ignored.push_back(layout_.names[c]);
        continue;
      }
      take(c, CsvColumn::feature, layout_.features.size());
      layout_.features.push_back(layout_.names[c]);
    }
    if (layout_.features.empty())
      text_.fail(header_, fmt::format("no feature columns; add at least one (found {})",
                                      quoted_list(layout_.names)));
  }

  void choose_time_form(std::size_t column) {
    const TimeCells cells{sample_[column], [&](const auto& is) { return sample_.find(column, is); },
                          !layout_.name_of(CsvColumn::clock).empty()};
    try {
      layout_.time = time_form(cells, options_);
    } catch (const Error& error) {
      text_.fail(header_, layout_.names[column], error.message(option));
    }
    if (layout_.time.kind == TimeKind::number && options_.like) choose_time_unit(column);
    if (layout_.time.kind != TimeKind::date && !layout_.name_of(CsvColumn::clock).empty())
      text_.fail(header_, layout_.names[column],
                 fmt::format("it stands beside times of day in '{}' and holds no dates",
                             layout_.name_of(CsvColumn::clock)));
  }

  // Numbers of another unit than the model's, as the columns are called.
  void choose_time_unit(std::size_t column) {
    const KnownReading& like = *options_.like;
    const std::string& name = layout_.names[column];
    if (name == like.reading.time && options_.time_unit.empty()) return;
    const TimeUnit here =
        options_.time_unit.empty() ? unit_in_name(name) : time_unit_from_name(options_.time_unit);
    const TimeUnit there = like.time_axis.unit != TimeUnit::none ? like.time_axis.unit
                                                                 : unit_in_name(like.reading.time);
    if (here == TimeUnit::none || here == there) return;
    if (there != TimeUnit::none)
      layout_.time_unit = here;
    else if (options_.time.empty() && options_.time_unit.empty())
      text_.fail(header_, name,
                 fmt::format("the model's times are called '{}', which names no unit; give {} if "
                             "both count alike",
                             like.reading.time, option("time", name)));
  }

  const CsvText& text_;
  const char* header_;
  const CsvSample& sample_;
  const ReadOptions& options_;
  CsvLayout& layout_;
  std::vector<bool> taken_, is_row_index_;
  std::vector<std::string> squeezed_;  // the names
};

// How numbers are written in the first rows.
void look_at_decimals(const CsvSample& sample, bool commas_separate, const ReadOptions& options,
                      CsvLayout& layout) {
  bool commas_group = false;
  bool comma_alone = false, point_alone = false;  // cells in which only that is a decimal mark
  bool points_open = false;                       // 1.234, which may be a thousand
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    const CsvColumn kind = layout.columns[c].kind;
    if (kind != CsvColumn::feature && kind != CsvColumn::value &&
        kind != CsvColumn::static_covariate && kind != CsvColumn::time)
      continue;
    for (const std::string& cell : sample[c]) {
      const bool comma = cell.find(',') != std::string::npos,
                 point = cell.find('.') != std::string::npos;
      if (!comma && !point) continue;
      const auto number = read_written_number(cell);
      if (!number) continue;
      const bool only_comma = std::isnan(number->with_point),
                 only_point = std::isnan(number->with_comma);
      comma_alone |= comma && only_comma;
      point_alone |= point && !comma && only_point;
      points_open |= point && !comma && !only_comma && !only_point;
      layout.points_group |= number->points_group && !number->unit_is_certain;
      commas_group |= comma && std::isnan(number->with_comma);
      layout.decimal_comma |= comma && (commas_separate ? only_comma : !point);
      layout.decimal_point |= point && !comma && finite_number(cell);
    }
  }
  // Beside 46,5 points may stand between the digits of 1.234.
  layout.points_group |= comma_alone && points_open && !commas_group;
  if (commas_group) layout.decimal_comma = false;
  if (layout.points_group) layout.decimal_point = false;
  if (!options.decimal.empty()) {
    layout.points_group = options.decimal == "comma";
    layout.decimal = options.decimal == "comma" ? DecimalMark::comma : DecimalMark::point;
    layout.decimal_point = options.decimal == "point";
    return;
  }
  if (layout.points_group != commas_group)
    layout.decimal = commas_group  ? DecimalMark::point
                     : point_alone ? DecimalMark::open
                                   : DecimalMark::comma;
  else if (layout.decimal_comma != layout.decimal_point)
    layout.decimal = layout.decimal_comma ? DecimalMark::comma : DecimalMark::point;
  layout.decimal_point |= commas_group;
}

}  // namespace

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), kShown));
  return fmt::format(
      "'{}'{}", fmt::join(names.begin(), names.begin() + shown, "', '"),
      names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

bool is_long_form(std::string_view variable, std::string_view value) {
  return has_usual_name(variable, ColumnRole::variable) && has_usual_name(value, ColumnRole::value);
}

bool valid_feature_name(std::string_view name) {
  return !name.empty() && !name.starts_with(kStatic) && name != "id" && name != "time" &&
         lower(name) != "label" && lower(name) != "group";
}

void CsvLayout::count_runs() {
  std::uint32_t run = 0;
  for (std::size_t c = columns.size(); c-- > 0;)
    columns[c].run = run = columns[c].kind == CsvColumn::feature ? run + 1 : 0;
}

std::string CsvLayout::name_of(CsvColumn kind) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [kind](const Column& column) { return column.kind == kind; });
  return found == columns.end() ? std::string()
                                : names[static_cast<std::size_t>(found - columns.begin())];
}

std::string CsvLayout::static_column(std::size_t index) const {
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].kind == CsvColumn::static_covariate &&
        static_cast<std::size_t>(columns[c].index) == index)
      return names[c];
  return {};
}

CsvLayout read_csv_layout(CsvText& text, const ReadOptions& options) {
  const CsvHeader header = find_header(text);
  const char* p = header.at;
  if (p == text.end())
    text.fail(p, "the file is empty; it needs a header line 'id,time,<feature>,…' and rows");
  CsvLayout layout;
  layout.lines_skipped = header.skipped;
  layout.names = read_names(text, p, options.limits);
  layout.header = {header.at, static_cast<std::size_t>(p - header.at)};
  while (!layout.header.empty() && (layout.header.back() == '\n' || layout.header.back() == '\r'))
    layout.header.remove_suffix(1);
  const CsvSample sample(text, layout.header, p, layout.names.size());
  layout.rows = sample.rows();
  layout.units_row = sample.has_units();
  Chooser(text, header.at, sample, options, layout).choose();
  look_at_decimals(sample, text.separator() == ',', options, layout);
  const auto called = [&](CsvColumn kind, std::string_view usual) {
    const std::string name = layout.name_of(kind);
    return name.empty() || name == usual;
  };
  layout.plain = text.separator() == ',' && !layout.one_series && called(CsvColumn::id, "id") &&
                 called(CsvColumn::time, "time") && called(CsvColumn::label, "label") &&
                 called(CsvColumn::group, "group") && called(CsvColumn::feature_name, "feature") &&
                 called(CsvColumn::value, "value") && called(CsvColumn::clock, "") &&
                 layout.ignored.empty() && layout.row_index.empty();
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    if (layout.columns[c].kind == CsvColumn::static_covariate)
      layout.plain &= layout.names[c].starts_with(kStatic);
  return layout;
}

}  // namespace edict
